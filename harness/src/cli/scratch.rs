use super::project::Project;
use std::path::PathBuf;

/// The folder of a run's scratch files, removed when dropped.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn of(project: &Project, name: &str) -> Self {
        Self(project.root.join("target/bench-scratch").join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies below `target`, and the next `cargo clean` takes it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
