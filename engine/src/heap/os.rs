//! Memory from the system: mapping, returning and moving it.
//!
//! Nothing here allocates or panics: a refusal is a null pointer or `false`.

use std::ptr::{self, null_mut};

/// Bytes of a page. Larger pages of the system are multiples of it.
pub(super) const PAGE: usize = 4096;

/// Maps `len` bytes of zeroes; null when the system refuses.
pub(super) fn map(len: usize) -> *mut u8 {
    // SAFETY: a new private mapping at a place that the system chooses touches no memory of anyone.
    let start = unsafe {
        libc::mmap(
            null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if start == libc::MAP_FAILED { null_mut() } else { start.cast() }
}

/// Maps `len` bytes of zeroes such that the address `lead` bytes behind the start is a multiple of `align`; null when
/// the system refuses. `len` is whole pages, `align` a power of two of at least a page.
pub(super) fn map_aligned(len: usize, align: usize, lead: usize) -> *mut u8 {
    let Some(reserve) = len.checked_add(align) else { return null_mut() };
    let start = map(reserve);
    if start.is_null() {
        return start;
    }
    let before = start.addr().wrapping_add(lead).wrapping_neg() & (align - 1);
    let after = reserve - before - len;
    // SAFETY: both ends lie in the mapping just made, which nobody knows yet.
    unsafe {
        if before > 0 {
            unmap(start, before);
        }
        if after > 0 {
            unmap(start.add(before + len), after);
        }
        start.add(before)
    }
}

/// Returns a mapping, or whole pages of one, to the system.
///
/// # Safety
///
/// The bytes are mapped by this module and nobody uses them any more.
pub(super) unsafe fn unmap(start: *mut u8, len: usize) {
    // SAFETY: by the contract. A refusal (too many mappings) leaves the memory mapped, which is only a loss.
    unsafe { libc::munmap(start.cast(), len) };
}

/// Gives the pages back and keeps the addresses; whether they read as zeroes from now on.
///
/// # Safety
///
/// The bytes are whole pages mapped by this module, and nobody needs what is in them.
pub(super) unsafe fn purge(start: *mut u8, len: usize) -> bool {
    // SAFETY: by the contract.
    unsafe { libc::madvise(start.cast(), len, libc::MADV_DONTNEED) == 0 }
}

/// Grows or shrinks a mapping where it stands.
///
/// # Safety
///
/// `start` is a mapping of `old` bytes made by this module, and nobody uses what lies behind `new`.
pub(super) unsafe fn resize(start: *mut u8, old: usize, new: usize) -> bool {
    // SAFETY: by the contract; without `MREMAP_MAYMOVE` the mapping stays.
    unsafe { libc::mremap(start.cast(), old, new, 0) != libc::MAP_FAILED }
}

/// Moves the pages of a mapping over another one, without copying them.
///
/// # Safety
///
/// `from` is a mapping of `old` bytes and `to` one of `new` bytes, both made by this module; nobody uses `to`, and
/// nobody uses `from` any more when the result is `true`.
pub(super) unsafe fn move_over(from: *mut u8, old: usize, to: *mut u8, new: usize) -> bool {
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: by the contract.
    unsafe { libc::mremap(from.cast(), old, new, flags, to.cast::<libc::c_void>()) != libc::MAP_FAILED }
}

/// Makes pages inaccessible: whoever touches them is stopped by the processor.
///
/// # Safety
///
/// The bytes are whole pages mapped by this module.
pub(super) unsafe fn forbid(start: *mut u8, len: usize) {
    // SAFETY: by the contract. A refusal leaves a check less, not a hole.
    unsafe { libc::mprotect(start.cast(), len, libc::PROT_NONE) };
}

/// The value of an environment variable, without allocating.
pub(super) fn variable(name: &std::ffi::CStr) -> Option<&'static [u8]> {
    // SAFETY: the name ends with a zero byte. The environment is read before the program can change it, or at the
    // same risk as by every call of the C library that reads it.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: what `getenv` returns is null or a string in the environment.
    (!value.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(value) }.to_bytes())
}

/// Writes to standard error, without allocating and without a lock.
pub(super) fn complain(parts: &[&[u8]]) {
    for part in parts {
        // SAFETY: the bytes are readable; when they cannot be written there is no one to tell.
        unsafe { libc::write(2, ptr::from_ref(*part).cast(), part.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_aligned_behind_their_lead() {
        for (align, lead) in [(PAGE, 0), (4 << 20, 0), (4 << 20, 8192), (64 << 20, 8192)] {
            let start = map_aligned(3 * PAGE, align, lead);
            assert!(!start.is_null() && (start.addr() + lead).is_multiple_of(align), "{align} {lead}");
            // SAFETY: the mapping was just made and is used here only.
            unsafe {
                start.add(3 * PAGE - 1).write(1);
                unmap(start, 3 * PAGE);
            }
        }
    }

    #[test]
    fn what_the_system_has_not_is_null() {
        assert!(map(usize::MAX & !(PAGE - 1)).is_null());
        assert!(map_aligned(1 << 62, 1 << 62, 0).is_null());
        assert!(map_aligned(usize::MAX & !(PAGE - 1), PAGE, 0).is_null());
    }
}
