//! Root without root: Postgres refuses to run as uid 0, so it is given a user namespace in which root's files and
//! root itself carry another number. Nothing changes its owner, and paths that only root may enter still work.
//!
//! In the same way a user without an entry in `/etc/passwd`, as containers like to have them, becomes one who has an
//! entry, without which `initdb` refuses to work.

use rustix::fs::{Mode, OFlags, open};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// `nobody`, who has an entry in every `/etc/passwd`.
const INSIDE: u32 = 65534;

/// Makes `command` start in a user namespace of its own, where this process's user is `nobody`.
pub(super) fn enter(command: &mut Command) {
    let own = |id: u32| format!("{INSIDE} {id} 1");
    let uid = own(rustix::process::geteuid().as_raw());
    let gid = own(rustix::process::getegid().as_raw());
    // SAFETY: the closure runs in the child between fork and exec, where another thread's locks may be held for
    // ever. It makes system calls and nothing else: it allocates nothing, takes no lock and reads nothing of the
    // parent but the two texts, which were made before the fork and belong to the closure; errors are plain numbers.
    unsafe {
        command.pre_exec(move || map_user(uid.as_bytes(), gid.as_bytes()));
    }
}

fn map_user(uid: &[u8], gid: &[u8]) -> io::Result<()> {
    // SAFETY: only `UnshareFlags::FILES` can break another thread's file descriptors; it is not given, and the
    // child of a fork has one thread.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }?;
    write(c"/proc/self/setgroups", b"deny")?;
    write(c"/proc/self/uid_map", uid)?;
    write(c"/proc/self/gid_map", gid)
}

fn write(path: &CStr, text: &[u8]) -> io::Result<()> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text)?;
    Ok(())
}
