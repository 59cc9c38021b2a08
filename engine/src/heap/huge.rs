//! Blocks that have a mapping of their own.
//!
//! A mapping begins like a segment, so that a block is found in the same way: its user's bytes start behind the
//! records, at the first multiple of the alignment. A block aligned to a whole segment or more has its records right
//! before it.

use std::ptr::null_mut;

use super::os::{self, PAGE};
use super::sizes::NO_PLACE;
use super::span::{Head, RECORDS, SEGMENT, Use, segment_of, span_of};

/// Bytes from the head to the user's bytes.
fn lead(align: usize) -> usize {
    if align >= SEGMENT { RECORDS } else { align.max(RECORDS) }
}

/// # Safety
///
/// `ptr` is a block of this module.
pub(super) unsafe fn head_of(ptr: *mut u8) -> *mut Head {
    if ptr.addr().is_multiple_of(SEGMENT) {
        // SAFETY: by the contract, such a block has its records right before it.
        unsafe { ptr.sub(RECORDS).cast() }
    } else {
        segment_of(ptr).cast()
    }
}

/// The user's first byte of the mapping of `head`.
///
/// # Safety
///
/// `head` is the head of a block of this module with this alignment.
pub(super) unsafe fn first_byte(head: *mut Head, align: usize) -> *mut u8 {
    // SAFETY: by the contract.
    unsafe { head.cast::<u8>().add(lead(align)) }
}

/// An alignment that puts a block as far behind its head as `ptr` stands.
///
/// # Safety
///
/// `ptr` is a block of this module.
pub(super) unsafe fn lead_of(ptr: *mut u8) -> usize {
    if ptr.addr().is_multiple_of(SEGMENT) {
        SEGMENT
    } else {
        // SAFETY: by the contract.
        ptr.addr() - unsafe { head_of(ptr) }.addr()
    }
}

/// Bytes of the mapping of a block of `size` bytes.
fn mapped(size: usize, align: usize) -> Option<usize> {
    Some(size.checked_add(lead(align) + PAGE - 1)? & !(PAGE - 1))
}

/// A block of zeroes; null when the system refuses. Its size can be any number, `align` any power of two.
pub(super) fn take(size: usize, align: usize) -> *mut u8 {
    let Some(len) = mapped(size, align) else { return null_mut() };
    let start = if align >= SEGMENT {
        os::map_aligned(len, align, RECORDS)
    } else {
        os::map_aligned(len, SEGMENT, 0)
    };
    if start.is_null() {
        return start;
    }
    // SAFETY: the mapping was just made, has room for the records, and is known to nobody.
    unsafe {
        let ptr = start.add(lead(align));
        let head: *mut Head = start.cast();
        (*head).start = start;
        (*head).len = len;
        if align < SEGMENT {
            let record = span_of(ptr);
            ((*record).used_for, (*record).place) = (Use::Huge, NO_PLACE);
        }
        ptr
    }
}

/// Returns a block to the system.
///
/// # Safety
///
/// `ptr` came from [`take`] and is used no more.
pub(super) unsafe fn give(ptr: *mut u8) {
    // SAFETY: by the contract, the head says what was mapped.
    unsafe {
        let head = head_of(ptr);
        os::unmap((*head).start, (*head).len);
    }
}

/// Bytes that can be used from `ptr` on.
///
/// # Safety
///
/// `ptr` came from [`take`].
pub(super) unsafe fn usable(ptr: *mut u8) -> usize {
    // SAFETY: by the contract.
    unsafe {
        let head = head_of(ptr);
        (*head).len - (ptr.addr() - (*head).start.addr())
    }
}

/// Changes the size of a block, in place or by moving its pages; null when the system refuses, and the block is as it
/// was. Nothing is copied.
///
/// # Safety
///
/// `ptr` came from [`take`] with `align` and is used no more when the result is not null.
pub(super) unsafe fn resize(ptr: *mut u8, size: usize, align: usize) -> *mut u8 {
    let Some(len) = mapped(size, align) else { return null_mut() };
    // SAFETY: by the contract; the mapping moves as a whole, with its records.
    unsafe {
        let head = head_of(ptr);
        let (start, old) = ((*head).start, (*head).len);
        if len == old || os::resize(start, old, len) {
            (*head).len = len;
            return ptr;
        }
        let moved = take(size, align);
        if moved.is_null() {
            return moved;
        }
        let target = head_of(moved).cast::<u8>();
        if !os::move_over(start, old, target, len) {
            give(moved);
            return null_mut();
        }
        let head: *mut Head = target.cast();
        (*head).start = target;
        (*head).len = len;
        moved
    }
}
