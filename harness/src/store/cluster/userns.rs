//! Root without root: Postgres refuses to run as uid 0, so it is given a user namespace in which root's files and
//! root itself carry another number. Nothing changes its owner, and paths that only root may enter still work.

use rustix::fs::{Mode, OFlags, open};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// `nobody` inside stands for root outside.
const MAP: &[u8] = b"65534 0 1";

/// Makes `command` start in a user namespace of its own.
pub(super) fn enter(command: &mut Command) {
    // SAFETY: the closure runs in the child between fork and exec, where another thread's locks may be held for
    // ever. It makes system calls and nothing else: it allocates nothing, takes no lock and touches no data of
    // the parent; paths and texts are constants, and errors are plain numbers.
    unsafe {
        command.pre_exec(map_root);
    }
}

fn map_root() -> io::Result<()> {
    // SAFETY: only `UnshareFlags::FILES` can break another thread's file descriptors; it is not given, and the
    // child of a fork has one thread.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }?;
    write(c"/proc/self/setgroups", b"deny")?;
    write(c"/proc/self/uid_map", MAP)?;
    write(c"/proc/self/gid_map", MAP)
}

fn write(path: &CStr, text: &[u8]) -> io::Result<()> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text)?;
    Ok(())
}
