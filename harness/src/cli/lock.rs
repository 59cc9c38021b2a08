use super::failure::{Exit, Failure};
use super::project::Project;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use uuid::Uuid;

/// Held while a run is measured, so that nobody resumes it meanwhile. The system drops it with the process.
pub(super) struct RunLock(File);

impl RunLock {
    /// Takes the lock of a run.
    pub(super) fn take(project: &Project, run: Uuid) -> Result<Self, Failure> {
        let folder = project.state()?.join("runs");
        let path = folder.join(format!("{run}.lock"));
        let failed = |it: &dyn std::error::Error| {
            Failure::chain(Exit::Failed, it).context(&format!("failed to lock `{}`", project.shown(&path)))
        };
        std::fs::create_dir_all(&folder).map_err(|it| failed(&it))?;
        let file = File::create(&path).map_err(|it| failed(&it))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self(file)),
            Err(Errno::WOULDBLOCK) => {
                Err(Failure::new(Exit::Failed, format!("run {run} is being measured by another process")))
            }
            Err(error) => Err(failed(&error)),
        }
    }

    /// Gives the lock back for good: the run is over.
    pub(super) fn remove(self, project: &Project, run: Uuid) {
        // A lock file that stays is empty and locks nothing.
        let _ = std::fs::remove_file(project.root.join(".harness/runs").join(format!("{run}.lock")));
        drop(self.0);
    }
}

/// Held while ledgers are written, from the reading on: who reads later must write later.
pub(super) struct RenderLock {
    _file: File,
}

impl RenderLock {
    /// Waits until nobody else writes ledgers of the project.
    pub(super) fn take(project: &Project) -> Result<Self, Failure> {
        let path = project.state()?.join("render.lock");
        let failed = |it: &dyn std::error::Error| {
            Failure::chain(Exit::Failed, it).context(&format!("failed to lock `{}`", project.shown(&path)))
        };
        let file = File::create(&path).map_err(|it| failed(&it))?;
        loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(Self { _file: file }),
                Err(Errno::INTR) => {}
                Err(error) => return Err(failed(&error)),
            }
        }
    }
}
