//! The spans that no heap owns, shared by all threads behind one lock; and blocks that are runs of spans.

use std::ptr::null_mut;

use super::lock::{Lock, Locked};
use super::os;
use super::sizes::{NO_PLACE, SPAN};
use super::span::{self, Head, SEGMENT, Span, Use, segment_of};

/// All segments.
pub(super) struct Pool {
    /// Segments with free spans.
    roomy: *mut Head,
    /// All segments.
    every: *mut Head,
    /// Number of free spans that hold memory of the system.
    dirty: usize,
    /// Number of spans in use.
    used: usize,
    /// Number of segments.
    segments: usize,
}

// SAFETY: the pool's pointers lead to records that are reached through its lock only.
unsafe impl Send for Pool {}

static POOL: Lock<Pool> =
    Lock::new(Pool { roomy: null_mut(), every: null_mut(), dirty: 0, used: 0, segments: 0 });

/// Free memory up to this many spans is kept for reuse, whatever is in use: 4 MiB.
const KEPT: usize = 64;

/// The pool, locked. The lock neither allocates nor panics.
pub(super) fn lock() -> Locked<'static, Pool> {
    POOL.lock()
}

/// Bits `start..start + count`.
fn bits(start: usize, count: usize) -> u64 {
    (u64::MAX >> (64 - count)) << start
}

/// The first `count` consecutive bits that are set.
fn find(mut set: u64, count: usize) -> Option<usize> {
    let mut length = 1;
    while length < count {
        // A bit stays if the `step` ones above it are set as well.
        let step = length.min(count - length);
        set &= set >> step;
        length += step;
    }
    (set != 0).then(|| set.trailing_zeros() as usize)
}

/// Index of the span of a record in its segment.
fn index(span: *mut Span) -> usize {
    (span.addr() & (SEGMENT - 1)) / size_of::<Span>()
}

impl Pool {
    /// Takes `count` consecutive spans; null when the system refuses. Whether all their bytes are zeroes.
    ///
    /// The search takes time in proportion to the number of segments with free spans.
    pub(super) fn take(&mut self, count: usize) -> (*mut Span, bool) {
        // SAFETY: segments are never unmapped, and their heads are reached through the lock only.
        unsafe {
            let mut head = self.roomy;
            while !head.is_null() {
                if let Some(start) = find((*head).free, count) {
                    return self.take_at(head, start, count);
                }
                head = (*head).next;
            }
            let head = span::map_segment();
            if head.is_null() {
                return (null_mut(), false);
            }
            (*head).every = self.every;
            self.every = head;
            self.segments += 1;
            self.list(head);
            self.take_at(head, 1, count)
        }
    }

    /// # Safety
    ///
    /// The spans are free ones of the listed segment `head`.
    unsafe fn take_at(&mut self, head: *mut Head, start: usize, count: usize) -> (*mut Span, bool) {
        // SAFETY: by the contract.
        unsafe {
            let taken = bits(start, count);
            let dirty = (*head).dirty & taken;
            self.dirty -= dirty.count_ones() as usize;
            self.used += count;
            (*head).free &= !taken;
            (*head).dirty |= taken;
            if (*head).free == 0 {
                self.unlist(head);
            }
            (head.cast::<Span>().add(start), dirty == 0)
        }
    }

    /// Takes spans back.
    ///
    /// # Safety
    ///
    /// The spans came from [`take`](Self::take), and nobody uses them.
    pub(super) unsafe fn give(&mut self, first: *mut Span, count: usize) {
        // SAFETY: by the contract; segments are never unmapped.
        unsafe {
            let head: *mut Head = segment_of(first.cast()).cast();
            for span in 0..count {
                (*first.add(span)).used_for = Use::Free;
            }
            if (*head).free == 0 {
                self.list(head);
            }
            (*head).free |= bits(index(first), count);
        }
        self.dirty += count;
        self.used -= count;
        if self.dirty > KEPT.max(self.used / 8) {
            self.purge();
        }
    }

    /// Grows a run of `old` spans to `new` where it stands, if the spans behind it are free.
    ///
    /// # Safety
    ///
    /// `first` is a run of `old` spans, fewer than `new`.
    pub(super) unsafe fn extend(&mut self, first: *mut Span, old: usize, new: usize) -> bool {
        let (start, more) = (index(first) + old, new - old);
        if start + more > span::SPANS {
            return false;
        }
        // SAFETY: by the contract; the spans lie in the same segment.
        unsafe {
            let head: *mut Head = segment_of(first.cast()).cast();
            let free = (*head).free & bits(start, more) == bits(start, more);
            if free {
                self.take_at(head, start, more);
            }
            free
        }
    }

    /// Returns the memory of all free spans to the system, and keeps their addresses.
    pub(super) fn purge(&mut self) {
        let mut head = self.roomy;
        while !head.is_null() {
            // SAFETY: segments are never unmapped; what is free is used by nobody.
            unsafe {
                let mut idle = (*head).free & (*head).dirty;
                while idle != 0 {
                    let start = idle.trailing_zeros() as usize;
                    let count = (idle >> start).trailing_ones() as usize;
                    let bytes = head.cast::<u8>().add(start * SPAN);
                    if os::purge(bytes, count * SPAN) {
                        (*head).dirty &= !bits(start, count);
                        self.dirty -= count;
                    }
                    idle &= !bits(start, count);
                }
                head = (*head).next;
            }
        }
    }

    /// Bytes mapped, and bytes in use by heaps and runs.
    pub(super) fn bytes(&self) -> (usize, usize) {
        (self.segments * SEGMENT, self.used * SPAN)
    }

    /// The first of all segments; [`Head::every`] leads on.
    pub(super) fn segments(&self) -> *mut Head {
        self.every
    }

    /// # Safety
    ///
    /// The segment is not listed.
    unsafe fn list(&mut self, head: *mut Head) {
        // SAFETY: listed segments are never unmapped.
        unsafe {
            (*head).previous = null_mut();
            (*head).next = self.roomy;
            if !self.roomy.is_null() {
                (*self.roomy).previous = head;
            }
        }
        self.roomy = head;
    }

    /// # Safety
    ///
    /// The segment is listed.
    unsafe fn unlist(&mut self, head: *mut Head) {
        // SAFETY: listed segments are never unmapped.
        unsafe {
            if (*head).previous.is_null() {
                self.roomy = (*head).next;
            } else {
                (*(*head).previous).next = (*head).next;
            }
            if !(*head).next.is_null() {
                (*(*head).next).previous = (*head).previous;
            }
        }
    }
}

/// A block of `count` spans; null when the system refuses. Whether all its bytes are zeroes.
pub(super) fn take_run(count: usize) -> (*mut u8, bool) {
    let (first, zeroed) = lock().take(count);
    if first.is_null() {
        return (null_mut(), false);
    }
    // SAFETY: the spans were just taken.
    unsafe {
        ((*first).used_for, (*first).place) = (Use::Run, NO_PLACE);
        (*first).bytes = count * SPAN;
        (span::base(first), zeroed)
    }
}

/// Takes back a block of spans.
///
/// # Safety
///
/// `ptr` came from [`take_run`] and is used no more.
pub(super) unsafe fn give_run(ptr: *mut u8) {
    // SAFETY: by the contract, the record is that of a run.
    unsafe {
        let first = span::span_of(ptr);
        lock().give(first, (*first).bytes / SPAN);
    }
}

/// Makes a block of spans one of `count` spans where it stands, if possible.
///
/// # Safety
///
/// `ptr` came from [`take_run`], and nobody uses what lies behind the new end.
pub(super) unsafe fn resize_run(ptr: *mut u8, count: usize) -> bool {
    // SAFETY: by the contract, the record is that of a run, and only its user changes it.
    unsafe {
        let first = span::span_of(ptr);
        let old = (*first).bytes / SPAN;
        let fits = match count {
            _ if count > old => lock().extend(first, old, count),
            _ if count < old => {
                lock().give(first.add(count), old - count);
                true
            }
            _ => true,
        };
        if fits {
            (*first).bytes = count * SPAN;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_bits_are_found_as_by_looking_at_each() {
        let mut state = 1u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let set = state | state << 1 | state >> 5;
            for count in [1, 2, 3, 5, 8, 13, 32] {
                let plain = (0..=64 - count).find(|&start| set & bits(start, count) == bits(start, count));
                assert_eq!(find(set, count), plain, "{set:b} {count}");
            }
        }
    }

    #[test]
    fn spans_that_come_back_are_merged_and_purged() {
        let mut pool = Pool { roomy: null_mut(), every: null_mut(), dirty: 0, used: 0, segments: 0 };
        let spans: Vec<_> = (0..63).map(|_| pool.take(1)).collect();
        assert!(spans.iter().all(|(span, zeroed)| !span.is_null() && *zeroed));
        assert!(pool.roomy.is_null(), "a full segment is not searched");
        // SAFETY: the spans were just taken from the pool and nobody uses them.
        unsafe {
            span::base(spans[5].0).write(7);
            for (span, _) in &spans {
                pool.give(*span, 1);
            }
            assert_eq!((pool.dirty, pool.used, pool.segments), (63, 0, 1));
            pool.purge();
            assert_eq!(pool.dirty, 0);
            let (run, zeroed) = pool.take(63);
            assert!(run == spans[0].0 && zeroed && span::base(spans[5].0).read() == 0);
            assert!(!pool.extend(run, 63, 64));
            pool.give(run, 63);
            os::unmap(pool.every.cast(), SEGMENT);
        }
    }
}
