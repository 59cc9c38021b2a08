//! The heap of one thread: its bins, and the spans it owns.
//!
//! A heap is never unmapped. When its thread ends it gives all cached blocks back and waits, with its spans, for the
//! next new thread.
//!
//! - A block is in exactly one place: in use, in a bin, in the depot, on a list of its span, beyond `bump`, or in
//!   `returned`.
//! - `out` of a span counts its blocks that are not in the span, those in bins, in the depot and in `returned` included.
//! - A span whose `returned` is not empty is in the owner's `pending`, or about to be put there.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use super::bin::{Bin, Bins, Queue, SLOTS, capacity};
use super::depot;
use super::gates::Configuration;
use super::os::{self, PAGE};
use super::pool;
use super::remote::Pending;
use super::sizes::{CLASSES, SPAN, block, hot};
use super::span::{self, Span, span_of};

/// Empty spans that a heap keeps, before it gives them to the pool: 1 MiB.
const KEPT_SPANS: u32 = 16;

/// How often something happened to a class in one heap.
///
/// Written by the owner only; readers of other threads may see a moment ago.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) hits: AtomicU64,
    pub(super) pushes: AtomicU64,
    pub(super) inline_hits: AtomicU64,
    pub(super) inline_pushes: AtomicU64,
    pub(super) refills: AtomicU64,
    pub(super) flushes: AtomicU64,
    pub(super) spans: AtomicU64,
}

/// Adds one, as only the owner may.
#[inline(always)]
pub(super) fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Other threads write here, so it has a line of its own.
#[repr(align(128))]
struct Mailbox(Pending);

/// A thread's heap. Zeroes are one that has nothing and takes nothing.
#[repr(C)]
pub(super) struct Local {
    /// First, so that the address of the heap is that of the bins.
    pub(super) bins: Bins,
    /// Inline slots that are on, a bit for each hot class.
    pub(super) gates: u64,
    /// Spans with room.
    lists: [*mut Span; CLASSES],
    empties: *mut Span,
    empty: u32,
    pub(super) counters: [Counters; CLASSES],
    mailbox: Mailbox,
    /// What follows in the list of heaps without a thread.
    pub(super) idle: *mut Self,
    /// What follows in the list of all heaps.
    pub(super) every: *mut Self,
}

/// The heap of a thread that has none: every bin is empty and full.
#[repr(transparent)]
pub(super) struct Nothing(UnsafeCell<MaybeUninit<Local>>);

// SAFETY: nothing is ever written to it: an empty bin is not popped, a full one not pushed.
unsafe impl Sync for Nothing {}

pub(super) static NOTHING: Nothing = Nothing(UnsafeCell::new(MaybeUninit::zeroed()));

impl Nothing {
    pub(super) const fn get(&'static self) -> *mut Local {
        self.0.get().cast()
    }
}

/// A new heap; null when the system refuses.
pub(super) fn map(configuration: Configuration) -> *mut Local {
    let local: *mut Local = os::map((size_of::<Local>() + PAGE - 1) & !(PAGE - 1)).cast();
    if !local.is_null() {
        // SAFETY: it was just mapped, with zeroes, which are valid for all fields.
        unsafe { open(local, configuration) };
    }
    local
}

/// The bins of a heap.
///
/// # Safety
///
/// `local` is a heap.
unsafe fn bins(local: *mut Local) -> *mut Bins {
    // SAFETY: by the contract.
    unsafe { &raw mut (*local).bins }
}

/// The inline slots of a class.
///
/// # Safety
///
/// `local` is a heap, and `class` a class.
unsafe fn queue(local: *mut Local, class: usize) -> *mut Queue {
    // SAFETY: by the contract.
    unsafe { Bin::queue(Bins::bin(bins(local), class)) }
}

/// Gives the bins their room.
///
/// # Safety
///
/// The caller has the heap to itself, and its bins are empty.
pub(super) unsafe fn open(local: *mut Local, configuration: Configuration) {
    // SAFETY: by the contract.
    unsafe {
        (*local).gates = configuration.inline.into();
        for class in 0..CLASSES {
            let on = hot(class).is_some_and(|it| configuration.inline >> it & 1 == 1);
            Bins::open(bins(local), class, on);
        }
    }
}

/// Takes all blocks out of the bins, leaves them without room, and gives up the spans that are empty.
///
/// # Safety
///
/// The caller is the heap's thread, or has the heap to itself.
pub(super) unsafe fn close(local: *mut Local) {
    // SAFETY: by the contract.
    unsafe {
        for class in 0..CLASSES {
            empty(local, class);
            Bins::close(bins(local), class);
        }
        drain(local);
        release(local);
    }
}

/// Takes all blocks out of the bins and gives up the spans that are empty.
///
/// # Safety
///
/// The caller is the heap's thread, or has the heap to itself.
pub(super) unsafe fn purge(local: *mut Local) {
    // SAFETY: by the contract.
    unsafe {
        for class in 0..CLASSES {
            empty(local, class);
        }
        drain(local);
        release(local);
    }
}

/// Sends all blocks that wait in the depot back to their spans.
///
/// # Safety
///
/// The caller is the heap's thread.
pub(super) unsafe fn clear_depot(local: *mut Local) {
    let mut blocks = [null_mut(); SLOTS];
    for class in 0..CLASSES {
        // SAFETY: by the contract; what was taken is known to nobody else.
        unsafe {
            let mut taken = SLOTS;
            while taken == SLOTS {
                taken = depot::take(class, blocks.as_mut_ptr(), SLOTS);
                give(local, blocks.as_mut_ptr(), taken);
            }
        }
    }
}

/// # Safety
///
/// As for [`close`].
unsafe fn empty(local: *mut Local, class: usize) {
    // SAFETY: by the contract; blocks of a bin are known to nobody else.
    unsafe {
        let (bins, queue) = (bins(local), queue(local, class));
        for _ in 0..(*queue).queued {
            let mut ptr = Queue::dequeue(queue);
            give(local, &raw mut ptr, 1);
        }
        let len = Bins::cached(bins, class);
        Bins::set_cached(bins, class, 0);
        give(local, Bins::stack(bins, class), len);
    }
}

/// Gives the kept empty spans, and those that are the last of their class, to the pool.
///
/// # Safety
///
/// As for [`close`].
unsafe fn release(local: *mut Local) {
    // SAFETY: by the contract; an empty span has no block that anyone knows.
    unsafe {
        let mut pool = pool::lock();
        while !(*local).empties.is_null() {
            let span = (*local).empties;
            (*local).empties = (*span).next;
            pool.give(span, 1);
        }
        (*local).empty = 0;
        for class in 0..CLASSES {
            let span = (*local).lists[class];
            if !span.is_null() && (*span).out == 0 {
                unlist(local, span);
                pool.give(span, 1);
            }
        }
    }
}

/// Takes a block of the cache of `class`, filling half of it if there is none; null when the system refuses.
///
/// # Safety
///
/// The caller is the heap's thread.
pub(super) unsafe fn take_cached(local: *mut Local, class: usize) -> *mut u8 {
    // SAFETY: by the contract; what is counted lies in the stack, which has room for half of its capacity.
    unsafe {
        let bins = bins(local);
        let stack = Bins::stack(bins, class);
        let mut len = Bins::cached(bins, class);
        if len == 0 {
            count(&(*local).counters[class].refills);
            let half = (capacity(block(class)) / 2) as usize;
            len = depot::take(class, stack, half);
            if len == 0 {
                len = take(local, class, stack, half);
                // The block with the lowest address is taken first.
                std::slice::from_raw_parts_mut(stack, len).reverse();
            }
            if len == 0 {
                return null_mut();
            }
        } else if (*queue(local, class)).slots != 0 {
            count(&(*local).counters[class].hits);
        }
        Bins::set_cached(bins, class, len - 1);
        *stack.add(len - 1)
    }
}

/// Puts a block into the cache of `class`, giving its older half back if it is full.
///
/// # Safety
///
/// The caller is the heap's thread, and `ptr` a block of `class` that is used no more.
pub(super) unsafe fn put_cached(local: *mut Local, class: usize, ptr: *mut u8) {
    // SAFETY: by the contract; after the flush at the latest the stack has room.
    unsafe {
        let bins = bins(local);
        if Bins::cached(bins, class) == capacity(block(class)) as usize {
            flush(local, class);
        } else if (*queue(local, class)).slots != 0 {
            count(&(*local).counters[class].pushes);
        }
        let len = Bins::cached(bins, class);
        *Bins::stack(bins, class).add(len) = ptr;
        Bins::set_cached(bins, class, len + 1);
    }
}

/// Gives the older half of the cache of `class` back: own blocks to their spans, those of other heaps to the depot.
///
/// # Safety
///
/// The caller is the heap's thread.
unsafe fn flush(local: *mut Local, class: usize) {
    // SAFETY: by the contract; what is moved lies in the stack, and its blocks are known to nobody else.
    unsafe {
        let bins = bins(local);
        let stack = Bins::stack(bins, class);
        let len = Bins::cached(bins, class);
        let half = len / 2;
        count(&(*local).counters[class].flushes);
        let mut foreign = 0;
        for at in 0..half {
            let ptr = *stack.add(at);
            let span = span_of(ptr);
            if (*span).owner == local {
                span::give_one(span, ptr);
                settle(local, span);
            } else {
                *stack.add(foreign) = ptr;
                foreign += 1;
            }
        }
        let left = depot::put(class, stack, foreign);
        give(local, stack.add(left), foreign - left);
        stack.add(half).copy_to(stack, len - half);
        Bins::set_cached(bins, class, len - half);
    }
}

/// Takes up to `want` blocks from the heap's spans.
///
/// # Safety
///
/// The caller is the heap's thread; `out` has room for `want` pointers.
pub(super) unsafe fn take(local: *mut Local, class: usize, out: *mut *mut u8, want: usize) -> usize {
    // SAFETY: by the contract; listed spans are the heap's own.
    unsafe {
        let mut taken = 0;
        loop {
            while !(*local).lists[class].is_null() {
                let span = (*local).lists[class];
                taken += span::take(span, out.add(taken), want - taken);
                if !span::has_room(span) {
                    unlist(local, span);
                }
                if taken == want {
                    return taken;
                }
            }
            // A block in hand is worth more than the search for others.
            if taken > 0 {
                return taken;
            }
            drain(local);
            if (*local).lists[class].is_null() {
                let mut span = (*local).empties;
                if span.is_null() {
                    span = pool::lock().take(1).0;
                    if span.is_null() {
                        return 0;
                    }
                } else {
                    (*local).empties = (*span).next;
                    (*local).empty -= 1;
                }
                span::open(span, class, local);
                count(&(*local).counters[class].spans);
                list(local, span);
            }
        }
    }
}

/// Gives blocks back to their spans, those of others through their lists.
///
/// # Safety
///
/// The caller is the heap's thread and has the `count` blocks from `blocks` on to itself; all are of small classes.
pub(super) unsafe fn give(local: *mut Local, blocks: *mut *mut u8, count: usize) {
    // SAFETY: by the contract; a block's record says whose it is, and that cannot change while the block is out.
    unsafe {
        let mut at = 0;
        while at < count {
            let ptr = *blocks.add(at);
            at += 1;
            let span = span_of(ptr);
            if (*span).owner == local {
                span::give_one(span, ptr);
                settle(local, span);
                continue;
            }
            // Blocks that came from one span together tend to go together.
            let (mut head, mut length) = (ptr, 1);
            while at < count && span_of(*blocks.add(at)) == span {
                let next = *blocks.add(at);
                span::link(next, head);
                head = next;
                at += 1;
                length += 1;
            }
            give_abroad(span, head, ptr, length);
        }
    }
}

/// Gives a chain of blocks to a span of another heap.
///
/// # Safety
///
/// The caller has the chain of `length` blocks from `head` to `last` to itself, and all are of `span`.
unsafe fn give_abroad(span: *mut Span, head: *mut u8, last: *mut u8, length: u64) {
    // SAFETY: by the contract. The span stays its owner's until the owner has taken these blocks, which it does not
    // before it finds the span in its mailbox.
    unsafe {
        let owner = (*span).owner;
        let first = (*span).returned.push(head.expose_provenance(), length, |seen| {
            span::link(last, with_exposed_provenance_mut(seen));
        });
        if first {
            (*owner).mailbox.0.push(span.expose_provenance(), |seen| {
                (*span).pending = with_exposed_provenance_mut(seen);
            });
        }
    }
}

/// Takes in all blocks of the heap's spans that other threads have freed.
///
/// # Safety
///
/// The caller is the heap's thread, or has the heap to itself.
unsafe fn drain(local: *mut Local) {
    // SAFETY: by the contract; what is in the mailbox are the heap's own spans.
    unsafe {
        let mut span: *mut Span = with_exposed_provenance_mut((*local).mailbox.0.take());
        while !span.is_null() {
            // Before the list is taken: from then on others may put the span into the mailbox again.
            let next = (*span).pending;
            let (head, count) = (*span).returned.take();
            span::give(span, with_exposed_provenance_mut(head), count as u32);
            settle(local, span);
            span = next;
        }
    }
}

/// Puts a span that has got blocks back where it belongs.
///
/// # Safety
///
/// The span is the heap's own.
unsafe fn settle(local: *mut Local, span: *mut Span) {
    // SAFETY: by the contract.
    unsafe {
        if !(*span).listed {
            list(local, span);
        }
        // The last span of a class stays: the next block will come from it.
        if (*span).out == 0 && !((*span).next.is_null() && (*span).previous.is_null()) {
            unlist(local, span);
            if (*local).empty < KEPT_SPANS {
                (*span).next = (*local).empties;
                (*local).empties = span;
                (*local).empty += 1;
            } else {
                pool::lock().give(span, 1);
            }
        }
    }
}

/// # Safety
///
/// The span is the heap's own and not listed.
unsafe fn list(local: *mut Local, span: *mut Span) {
    // SAFETY: by the contract; the list holds spans of the heap.
    unsafe { span::list(&raw mut (*local).lists[usize::from((*span).class)], span) };
}

/// # Safety
///
/// The span is the heap's own and listed.
unsafe fn unlist(local: *mut Local, span: *mut Span) {
    // SAFETY: by the contract; the list holds spans of the heap.
    unsafe { span::unlist(&raw mut (*local).lists[usize::from((*span).class)], span) };
}

/// Bytes of the heap itself.
pub(super) const BYTES: usize = size_of::<Local>();

const _: () = assert!(SPAN / block(0) < 1 << 16, "the blocks of a span fit into the counter of a list");
