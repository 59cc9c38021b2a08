//! Revisions of the project's repository, and work trees of them.

use super::build::last_lines;
use super::launch::LaunchError;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The commit that `revision` names now.
pub(super) fn commit(root: &Path, revision: &str) -> Result<String, LaunchError> {
    let wanted = format!("{revision}^{{commit}}");
    ask(root, &["rev-parse", "--verify", "--end-of-options", &wanted]).map_err(|it| match it {
        LaunchError::Git { lines, .. } => LaunchError::Revision { revision: revision.to_owned(), lines },
        other => other,
    })
}

/// Where the project lies within its repository; empty if it is the whole one.
pub(super) fn prefix(root: &Path) -> Result<PathBuf, LaunchError> {
    Ok(PathBuf::from(ask(root, &["rev-parse", "--show-prefix"])?))
}

/// Makes a work tree of a commit.
pub(super) fn check_out(root: &Path, commit: &str, tree: &Path) -> Result<(), LaunchError> {
    let tree = tree.display().to_string();
    ask(root, &["worktree", "add", "--quiet", "--force", "--detach", &tree, commit]).map(drop)
}

/// Removes a work tree, if it is there, and the `folder` around it; the repository forgets it.
pub(super) fn remove(root: &Path, tree: &Path, folder: &Path) -> Result<(), LaunchError> {
    let was_there = tree.exists();
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            return Err(LaunchError::Folder { path: folder.to_owned(), source });
        }
        _ => {}
    }
    if was_there { ask(root, &["worktree", "prune"]).map(drop) } else { Ok(()) }
}

fn ask(root: &Path, args: &[&str]) -> Result<String, LaunchError> {
    let failed = |lines| LaunchError::Git { args: args.iter().map(|it| (*it).to_owned()).collect(), lines };
    let output = Command::new("git")
        .args(args)
        .current_dir(root)
        .output()
        .map_err(|it| failed(vec![it.to_string()]))?;
    if !output.status.success() {
        return Err(failed(last_lines(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
