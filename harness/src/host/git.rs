use crate::store::Git;
use std::path::Path;
use std::process::Command;

/// The state of the work tree at `root`; the commit is `unknown` outside a repository or before the first
/// commit.
///
/// Generated files do not make a tree dirty: a run writes ledgers, evidence and plots itself.
pub fn git(root: &Path) -> Git {
    let commit = ask(root, &["rev-parse", "HEAD"]);
    let changes =
        ["status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)ledgers", ":(exclude)plots"];
    Git {
        dirty: commit.is_some() && ask(root, &changes).is_none_or(|it| !it.is_empty()),
        commit: commit.unwrap_or_else(|| "unknown".to_owned()),
    }
}

/// The text of a file at a commit; `None` if it was not there. `path` is relative to `root`.
pub fn text_at(root: &Path, commit: &str, path: &str) -> Option<Vec<u8>> {
    let output =
        Command::new("git").args(["show", &format!("{commit}:./{path}")]).current_dir(root).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// The commits that changed a file, the newest first, at most `most`.
pub fn commits_of(root: &Path, path: &str, most: usize) -> Vec<String> {
    let log = ask(root, &["log", "--format=%H", &format!("--max-count={most}"), "--", path]);
    log.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The oldest commit whose message has this line.
pub fn commit_that_says(root: &Path, line: &str) -> Option<String> {
    let commits = ask(root, &["log", "--format=%H", "--fixed-strings", "--grep", line])?;
    commits.lines().last().map(str::to_owned)
}

fn ask(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
