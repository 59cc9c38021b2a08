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

fn ask(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
