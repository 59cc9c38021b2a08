//! Spans and the segments they stand in.
//!
//! A segment is 4 MiB, aligned to its size, and has 64 spans of 64 KiB. The first span holds the records of all of
//! them, so that the record of a block is found by its address alone. A mapping of its own has the same beginning.
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 64 × 128 | one [`Span`] for each span; that of the first is the [`Head`] of the segment |
//! | 8 KiB | 63 × 512 | one bit a block of every span, for debug mode |
//! | 64 KiB | 63 × 64 KiB | spans |

use std::ptr::null_mut;

use super::local::Local;
use super::os;
use super::remote::Returned;
use super::sizes::{SPAN, block, place_of};

/// Bytes and alignment of a segment.
pub(super) const SEGMENT: usize = 4 << 20;
/// Number of spans in a segment, the first with the records included.
pub(super) const SPANS: usize = SEGMENT / SPAN;
/// Bytes of the records at the beginning of a segment, and of a mapping of its own.
pub(super) const RECORDS: usize = SPANS * size_of::<Span>();

/// What a span is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Use {
    /// Nothing; every span is born so, from zeroes.
    Free = 0,
    /// Blocks of one class.
    Blocks,
    /// It begins a run of spans that is one block.
    Run,
    /// It begins a block that has a mapping of its own.
    Huge,
    /// Blocks of one class, in debug mode.
    Checked,
}

/// The record of a span. Zeroes are a free span.
#[repr(C, align(128))]
pub(super) struct Span {
    // First line: only the owner reads or writes it.
    /// Blocks that came back, linked through their first bytes.
    pub(super) free: *mut u8,
    /// A second such list, so that a list that comes back can be kept without walking to its end.
    pub(super) later: *mut u8,
    /// The first block that was never handed out since the span was last empty, and the end of the blocks.
    pub(super) bump: *mut u8,
    pub(super) end: *mut u8,
    /// Neighbours in the owner's list of spans that have room, if it is listed.
    pub(super) next: *mut Self,
    pub(super) previous: *mut Self,
    /// Blocks outside of the span: in use, in a cache, or on their way home.
    pub(super) out: u32,
    pub(super) listed: bool,
    _line: [u64; 1],
    // Second line: written when the span changes hands, and by threads that free blocks of others.
    /// Blocks freed by other threads.
    pub(super) returned: Returned,
    /// What follows in the owner's list of such spans.
    pub(super) pending: *mut Self,
    /// The heap that the span belongs to. It changes only while no block is out, so whoever has one may read it.
    pub(super) owner: *mut Local,
    /// Bytes of the run or of the huge block, that it begins.
    pub(super) bytes: usize,
    /// Where the owner has the bin of its class, [`NO_PLACE`](super::sizes::NO_PLACE) if it has no blocks of a class.
    pub(super) place: u8,
    pub(super) class: u8,
    pub(super) used_for: Use,
}

/// The first record of a segment.
#[repr(C)]
pub(super) struct Head {
    /// A bit for each span that is free; the first never is.
    pub(super) free: u64,
    /// A bit for each span that may hold something else than zeroes.
    pub(super) dirty: u64,
    /// Neighbours in the list of segments with free spans, if it is listed.
    pub(super) next: *mut Self,
    pub(super) previous: *mut Self,
    /// What follows in the list of all segments.
    pub(super) every: *mut Self,
    /// Of a mapping of its own: where it starts and its bytes, behind the place of every segment's fields.
    pub(super) start: *mut u8,
    pub(super) len: usize,
}

const _: () = assert!(size_of::<Span>() == 128 && size_of::<Head>() <= 56);

/// The segment, or the start of the records, that `ptr` belongs to.
#[inline(always)]
pub(super) fn segment_of(ptr: *mut u8) -> *mut u8 {
    ptr.map_addr(|it| it & !(SEGMENT - 1))
}

/// The record of the span that holds the first byte of a block.
///
/// # Safety
///
/// `ptr` is a block of this allocator that is not aligned to a segment.
#[inline(always)]
pub(super) unsafe fn span_of(ptr: *mut u8) -> *mut Span {
    let index = (ptr.addr() & (SEGMENT - 1)) / SPAN;
    // SAFETY: every segment and every mapping of its own begins with records.
    unsafe { segment_of(ptr).cast::<Span>().add(index) }
}

/// Where the span of a record begins.
///
/// # Safety
///
/// `span` is a record of a segment.
pub(super) unsafe fn base(span: *mut Span) -> *mut u8 {
    let segment = segment_of(span.cast());
    let index = (span.addr() & (SEGMENT - 1)) / size_of::<Span>();
    // SAFETY: the record lies in a segment, whose spans are as many as its records.
    unsafe { segment.add(index * SPAN) }
}

/// Maps a segment whose spans are all free; null when the system refuses.
pub(super) fn map_segment() -> *mut Head {
    let head: *mut Head = os::map_aligned(SEGMENT, SEGMENT, 0).cast();
    if !head.is_null() {
        // SAFETY: the segment was just mapped, with zeroes, and is known to nobody else.
        unsafe { (*head).free = !1 };
    }
    head
}

/// The link in the first bytes of a block that is free.
///
/// # Safety
///
/// `ptr` is a block that only the caller knows, and was linked before.
#[inline(always)]
pub(super) unsafe fn after(ptr: *mut u8) -> *mut u8 {
    // SAFETY: a block has room for a pointer and is aligned to it.
    unsafe { ptr.cast::<*mut u8>().read() }
}

/// Links `next` behind the free block `ptr`.
///
/// # Safety
///
/// `ptr` is a block that only the caller knows.
#[inline(always)]
pub(super) unsafe fn link(ptr: *mut u8, next: *mut u8) {
    // SAFETY: a block has room for a pointer and is aligned to it.
    unsafe { ptr.cast::<*mut u8>().write(next) };
}

/// Makes a free span one of blocks of `class`, owned by `owner`.
///
/// # Safety
///
/// The caller has the span to itself.
pub(super) unsafe fn open(span: *mut Span, class: usize, owner: *mut Local) {
    // SAFETY: by the contract.
    unsafe {
        let start = base(span);
        (*span).free = null_mut();
        (*span).later = null_mut();
        (*span).bump = start;
        (*span).end = start.add(SPAN / block(class) * block(class));
        (*span).out = 0;
        (*span).listed = false;
        (*span).owner = owner;
        (*span).class = class as u8;
        (*span).place = place_of(class);
        (*span).used_for = Use::Blocks;
    }
}

/// Whether a block can be taken.
///
/// # Safety
///
/// The caller owns the span.
pub(super) unsafe fn has_room(span: *mut Span) -> bool {
    // SAFETY: by the contract.
    unsafe { !(*span).free.is_null() || (*span).bump != (*span).end || !(*span).later.is_null() }
}

/// Takes up to `want` blocks into `out` and returns how many.
///
/// # Safety
///
/// The caller owns the span; `out` has room for `want` pointers.
pub(super) unsafe fn take(span: *mut Span, out: *mut *mut u8, want: usize) -> usize {
    // SAFETY: by the contract; blocks on the lists are linked, and blocks from `bump` to `end` lie in the span.
    unsafe {
        let mut taken = 0;
        for _ in 0..2 {
            let mut free = (*span).free;
            while taken < want && !free.is_null() {
                *out.add(taken) = free;
                taken += 1;
                free = after(free);
            }
            (*span).free = free;
            if free.is_null() {
                (*span).free = (*span).later;
                (*span).later = null_mut();
            }
        }
        let size = block(usize::from((*span).class));
        while taken < want && (*span).bump != (*span).end {
            *out.add(taken) = (*span).bump;
            taken += 1;
            (*span).bump = (*span).bump.add(size);
        }
        (*span).out += taken as u32;
        taken
    }
}

/// Takes back a chain of `count` blocks. When no block is out any more, the span is as new and nothing of the chain
/// is touched.
///
/// # Safety
///
/// The caller owns the span, and all blocks of the chain are its and linked, the last to nothing.
pub(super) unsafe fn give(span: *mut Span, head: *mut u8, count: u32) {
    // SAFETY: by the contract.
    unsafe {
        (*span).out -= count;
        if (*span).out == 0 {
            (*span).free = null_mut();
            (*span).later = null_mut();
            (*span).bump = base(span);
        } else if (*span).free.is_null() {
            (*span).free = head;
        } else {
            if !(*span).later.is_null() {
                let mut last = head;
                while !after(last).is_null() {
                    last = after(last);
                }
                link(last, (*span).later);
            }
            (*span).later = head;
        }
    }
}

/// Takes back one block, as [`give`] does.
///
/// # Safety
///
/// As for [`give`].
#[inline]
pub(super) unsafe fn give_one(span: *mut Span, ptr: *mut u8) {
    // SAFETY: by the contract.
    unsafe {
        (*span).out -= 1;
        if (*span).out == 0 {
            (*span).free = null_mut();
            (*span).later = null_mut();
            (*span).bump = base(span);
        } else {
            link(ptr, (*span).free);
            (*span).free = ptr;
        }
    }
}

/// Puts a span at the beginning of the list that starts at `first`.
///
/// # Safety
///
/// The caller owns the span and the list; the span is not listed.
pub(super) unsafe fn list(first: *mut *mut Span, span: *mut Span) {
    // SAFETY: by the contract.
    unsafe {
        (*span).previous = null_mut();
        (*span).next = *first;
        if !(*first).is_null() {
            (**first).previous = span;
        }
        *first = span;
        (*span).listed = true;
    }
}

/// Takes a span out of the list that starts at `first`.
///
/// # Safety
///
/// The caller owns the span and the list; the span is in the list.
pub(super) unsafe fn unlist(first: *mut *mut Span, span: *mut Span) {
    // SAFETY: by the contract.
    unsafe {
        if (*span).previous.is_null() {
            *first = (*span).next;
        } else {
            (*(*span).previous).next = (*span).next;
        }
        if !(*span).next.is_null() {
            (*(*span).next).previous = (*span).previous;
        }
        (*span).listed = false;
    }
}
