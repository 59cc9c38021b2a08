//! Debug mode: every block is guarded, and every free is checked.
//!
//! One heap behind one lock serves all threads. No link is ever written into a block, so that a free block holds nothing
//! but poison:
//!
//! ```text
//! in use:  | the user's bytes | canary 0xFB, 8 bytes or more | size, alignment and their hash |
//! free:    | poison 0xDF                                                                       |
//! ```
//!
//! Whether a block is in use is a bit outside of it. Blocks of a span are used in turn, so that a free one rests for as
//! long as can be. Large blocks have a mapping of their own that ends with a page nobody may touch, and become untouchable
//! as a whole when they are freed.
//!
//! What is found is written to standard error, and the process aborts.

use std::ptr::null_mut;

use super::lock::{Lock, Locked};
use super::os::{self, PAGE};
use super::pool;
use super::report::{Fault, report};
use super::sizes::{CLASSES, LEAST_ALIGN, Route, SPAN, block};
use super::span::{self, Head, RECORDS, SEGMENT, SPANS, Span, Use, segment_of};
use super::{huge, local};

const CANARY: u8 = 0xFB;
const POISON: u8 = 0xDF;
/// What a new block is filled with: it is no zero and, as an address, of nothing.
const JUNK: u8 = 0xA5;
/// Bytes of the record at the end of a block.
const RECORD: usize = 8;
/// Bytes that a block needs more than its user: eight of canary at least, and the record.
const EXTRA: usize = 16;
/// Bytes of the bits of a span.
const BITS: usize = SPAN / 16 / 8;
/// Freed large blocks whose addresses are kept out of use.
const RESTING: usize = 256;

const _: () = assert!(RECORDS + SPANS * BITS <= SPAN);

/// The checked heap.
pub(super) struct Heap {
    /// Spans with room.
    lists: [*mut Span; CLASSES],
    /// Heads of large blocks, in use or resting: first what was allocated or freed last.
    large: *mut Head,
    resting: usize,
}

// SAFETY: the pointers are used through the lock only.
unsafe impl Send for Heap {}

static HEAP: Lock<Heap> = Lock::new(Heap { lists: [null_mut(); CLASSES], large: null_mut(), resting: 0 });

pub(super) fn lock() -> Locked<'static, Heap> {
    HEAP.lock()
}

/// Has the heap verified when the process ends.
pub(super) fn start() {
    use std::sync::Once;
    extern "C" fn at_exit() {
        lock().verify();
    }
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        // SAFETY: the functions stay valid for the life of the process.
        unsafe {
            libc::atexit(at_exit);
            libc::pthread_atfork(
                Some(super::thread::before_fork),
                Some(super::thread::after_fork),
                Some(super::thread::after_fork),
            );
        }
    });
}

/// A block; null when the system refuses.
pub(super) fn take(size: usize, align: usize, zeroed: bool) -> *mut u8 {
    lock().take(size, align, zeroed)
}

/// Checks and takes back a block; `layout` is what its user takes it for, if known.
///
/// # Safety
///
/// No one uses the block any more, if it is one.
pub(super) unsafe fn give(ptr: *mut u8, layout: Option<(usize, usize)>) {
    // SAFETY: by the contract.
    unsafe { lock().give(ptr, layout) };
}

/// Moves a block to one of another size, even if it would fit: so that stale pointers are found.
///
/// # Safety
///
/// As for [`give`].
pub(super) unsafe fn resize(ptr: *mut u8, layout: Option<(usize, usize)>, new_size: usize) -> *mut u8 {
    let mut heap = lock();
    let (size, align) = heap.check(ptr, layout).layout;
    let moved = heap.take(new_size, align, false);
    if !moved.is_null() {
        // SAFETY: both blocks have been checked to have these bytes.
        unsafe {
            moved.copy_from_nonoverlapping(ptr, size.min(new_size));
            heap.give(ptr, layout);
        }
    }
    moved
}

/// The size that a block was asked for with.
pub(super) fn size_of_block(ptr: *mut u8) -> usize {
    lock().check(ptr, None).layout.0
}

/// Checks all blocks, in use and free.
pub(super) fn verify() {
    lock().verify();
}

/// A block that was checked.
struct Checked {
    layout: (usize, usize),
    place: Place,
}

enum Place {
    Small { span: *mut Span, index: usize },
    Large(*mut Head),
}

/// The record of a block: it changes with any byte of it and with the place.
fn record(ptr: *mut u8, size: usize, align: usize) -> u64 {
    let plain = size as u64 | u64::from(align.trailing_zeros()) << 32;
    let hash = (plain ^ ptr.addr() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    plain | hash << 40
}

/// # Safety
///
/// The `len` bytes are readable.
unsafe fn first_other(start: *mut u8, len: usize, byte: u8) -> Option<usize> {
    // SAFETY: by the contract.
    unsafe { std::slice::from_raw_parts(start, len) }.iter().position(|it| *it != byte)
}

/// The byte with the bit of block `index`, and the bit.
///
/// # Safety
///
/// `span` is a checked span.
unsafe fn bit(span: *mut Span, index: usize) -> (*mut u8, u8) {
    let number = (span.addr() & (SEGMENT - 1)) / size_of::<Span>();
    // SAFETY: the bits of all spans of a segment stand behind its records.
    let byte = unsafe { segment_of(span.cast()).add(RECORDS + number * BITS + index / 8) };
    (byte, 1 << (index % 8))
}

/// # Safety
///
/// `span` is a checked span and the caller has the lock.
unsafe fn in_use(span: *mut Span, index: usize) -> bool {
    // SAFETY: by the contract.
    unsafe {
        let (byte, bit) = bit(span, index);
        *byte & bit != 0
    }
}

fn capacity(class: usize) -> usize {
    SPAN / block(class)
}

impl Heap {
    fn take(&mut self, size: usize, align: usize, zeroed: bool) -> *mut u8 {
        let class = match size.checked_add(EXTRA).map(|it| Route::of(it, align)) {
            Some(Route::Small(class)) => class,
            _ => return self.take_large(size, align),
        };
        let ptr = self.take_small(class);
        if !ptr.is_null() {
            // SAFETY: the block is new and has room for the size and what guards it.
            unsafe {
                ptr.write_bytes(if zeroed { 0 } else { JUNK }, size);
                ptr.add(size).write_bytes(CANARY, block(class) - RECORD - size);
                ptr.add(block(class) - RECORD).cast::<u64>().write_unaligned(record(ptr, size, align));
            }
        }
        ptr
    }

    fn take_small(&mut self, class: usize) -> *mut u8 {
        // SAFETY: the lists hold checked spans, which are this heap's for ever.
        unsafe {
            let mut span = self.lists[class];
            if span.is_null() {
                span = pool::lock().take(1).0;
                if span.is_null() {
                    return null_mut();
                }
                span::open(span, class, local::NOTHING.get());
                (*span).used_for = Use::Checked;
                span::list(&raw mut self.lists[class], span);
            }
            let size = block(class);
            let (base, used) = (span::base(span), ((*span).bump.addr() - span::base(span).addr()) / size);
            let index = if used < capacity(class) {
                (*span).bump = (*span).bump.add(size);
                used
            } else {
                // In turn, from the one taken last: `bytes` remembers it.
                let mut index = (*span).bytes % capacity(class);
                while in_use(span, index) {
                    index = (index + 1) % capacity(class);
                }
                let ptr = base.add(index * size);
                check_poison(ptr, size);
                index
            };
            (*span).bytes = index + 1;
            let (byte, bit) = bit(span, index);
            *byte |= bit;
            (*span).out += 1;
            if (*span).out as usize == capacity(class) {
                span::unlist(&raw mut self.lists[class], span);
            }
            base.add(index * size)
        }
    }

    fn take_large(&mut self, size: usize, align: usize) -> *mut u8 {
        let Some(room) = size.checked_add(EXTRA + PAGE) else { return null_mut() };
        let ptr = huge::take(room, align);
        if !ptr.is_null() {
            // SAFETY: the block is new; its last page is behind the room for the size and the canary.
            unsafe {
                let head = huge::head_of(ptr);
                let guarded = huge::usable(ptr) - PAGE;
                ptr.add(size).write_bytes(CANARY, guarded - size);
                os::forbid(ptr.add(guarded), PAGE);
                ((*head).free, (*head).dirty) = (size as u64, align as u64);
                (*head).every = self.large;
                // Marks it as in use; what it points to is of no interest.
                (*head).next = head;
                self.large = head;
            }
        }
        ptr
    }

    /// Finds the block, or reports why it is none that could be freed.
    fn check(&self, ptr: *mut u8, layout: Option<(usize, usize)>) -> Checked {
        let checked = self.find_small(ptr).or_else(|| self.find_large(ptr));
        let Some(checked) = checked else { report(Fault::Foreign, ptr, 0) };
        if layout.is_some_and(|it| it != checked.layout) {
            report(Fault::Layout, ptr, checked.layout.0);
        }
        checked
    }

    fn find_small(&self, ptr: *mut u8) -> Option<Checked> {
        let segment: *mut Head = segment_of(ptr).cast();
        let number = (ptr.addr() & (SEGMENT - 1)) / SPAN;
        // SAFETY: a segment that is in the list of all has a record for every span.
        unsafe {
            let mut known = pool::lock().segments();
            while known != segment {
                if known.is_null() {
                    return None;
                }
                known = (*known).every;
            }
            let span = segment.cast::<Span>().add(number);
            if number == 0 || (*span).used_for != Use::Checked {
                return None;
            }
            let size = block(usize::from((*span).class));
            let offset = ptr.addr() - span::base(span).addr();
            if !offset.is_multiple_of(size) || ptr.addr() >= (*span).bump.addr() {
                return None;
            }
            let index = offset / size;
            if !in_use(span, index) {
                report(Fault::DoubleFree, ptr, size);
            }
            Some(Checked { layout: check_guard(ptr, size), place: Place::Small { span, index } })
        }
    }

    fn find_large(&self, ptr: *mut u8) -> Option<Checked> {
        // SAFETY: the list holds heads that are mapped.
        unsafe {
            let mut head = self.large;
            while !head.is_null() {
                let (size, align) = ((*head).free as usize, (*head).dirty as usize);
                if ptr.addr() == huge::first_byte(head, align).addr() {
                    if (*head).next.is_null() {
                        report(Fault::DoubleFree, ptr, size);
                    }
                    let guarded = huge::usable(ptr) - PAGE;
                    if first_other(ptr.add(size), guarded - size, CANARY).is_some() {
                        report(Fault::Overflow, ptr, size);
                    }
                    return Some(Checked { layout: (size, align), place: Place::Large(head) });
                }
                head = (*head).every;
            }
        }
        None
    }

    /// # Safety
    ///
    /// No one uses the block any more, if it is one.
    unsafe fn give(&mut self, ptr: *mut u8, layout: Option<(usize, usize)>) {
        // SAFETY: the block was checked to be one that is in use.
        unsafe {
            match self.check(ptr, layout).place {
                Place::Small { span, index } => {
                    let class = usize::from((*span).class);
                    ptr.write_bytes(POISON, block(class));
                    let (byte, bit) = bit(span, index);
                    *byte &= !bit;
                    if (*span).out as usize == capacity(class) {
                        span::list(&raw mut self.lists[class], span);
                    }
                    (*span).out -= 1;
                }
                Place::Large(head) => {
                    let len = huge::usable(ptr);
                    os::purge(ptr, len - PAGE);
                    os::forbid(ptr, len);
                    (*head).next = null_mut();
                    self.unlink_large(|it| it == head);
                    (*head).every = self.large;
                    self.large = head;
                    self.resting += 1;
                    if self.resting > RESTING {
                        self.unmap_oldest();
                    }
                }
            }
        }
    }

    /// Takes the last of the large blocks that `is` picks out of their list; null when there is none.
    ///
    /// # Safety
    ///
    /// The list holds heads that are mapped.
    unsafe fn unlink_large(&mut self, is: impl Fn(*mut Head) -> bool) -> *mut Head {
        // SAFETY: by the contract.
        unsafe {
            let (mut link, mut found) = (&raw mut self.large, null_mut());
            while !(*link).is_null() {
                if is(*link) {
                    found = link;
                }
                link = &raw mut (**link).every;
            }
            if found.is_null() {
                return null_mut();
            }
            let head = *found;
            *found = (*head).every;
            head
        }
    }

    /// Unmaps the resting block that was freed first.
    fn unmap_oldest(&mut self) {
        // SAFETY: the list holds heads that are mapped; a resting block is used by nobody.
        unsafe {
            let head = self.unlink_large(|it| (*it).next.is_null());
            if !head.is_null() {
                os::unmap((*head).start, (*head).len);
                self.resting -= 1;
            }
        }
    }

    fn verify(&self) {
        // SAFETY: the lists hold what is mapped; blocks below `bump` were handed out once.
        unsafe {
            let mut segment = pool::lock().segments();
            while !segment.is_null() {
                for number in 1..SPANS {
                    let span = segment.cast::<Span>().add(number);
                    if (*span).used_for != Use::Checked {
                        continue;
                    }
                    let (size, mut ptr, mut index) = (block(usize::from((*span).class)), span::base(span), 0);
                    while ptr != (*span).bump {
                        if in_use(span, index) {
                            check_guard(ptr, size);
                        } else {
                            check_poison(ptr, size);
                        }
                        (ptr, index) = (ptr.add(size), index + 1);
                    }
                }
                segment = (*segment).every;
            }
            let mut head = self.large;
            while !head.is_null() {
                if !(*head).next.is_null() {
                    self.find_large(huge::first_byte(head, (*head).dirty as usize));
                }
                head = (*head).every;
            }
        }
    }
}

/// Reports a write behind the user's bytes; the size and alignment otherwise.
///
/// # Safety
///
/// `ptr` is a block of `size` bytes that is in use.
unsafe fn check_guard(ptr: *mut u8, size: usize) -> (usize, usize) {
    // SAFETY: by the contract.
    unsafe {
        let found = ptr.add(size - RECORD).cast::<u64>().read_unaligned();
        let (asked, align) = (found as u32 as usize, 1usize << (found >> 32 & 63));
        let sound = asked <= size - EXTRA && found == record(ptr, asked, align);
        if !sound || first_other(ptr.add(asked), size - RECORD - asked, CANARY).is_some() {
            report(Fault::Overflow, ptr, if sound { asked } else { size });
        }
        (asked, align)
    }
}

/// Reports a write into a block that is free.
///
/// # Safety
///
/// `ptr` is a block of `size` bytes that was in use and is free.
unsafe fn check_poison(ptr: *mut u8, size: usize) {
    // SAFETY: by the contract.
    if let Some(at) = unsafe { first_other(ptr, size, POISON) } {
        report(Fault::WriteAfterFree, ptr.wrapping_add(at), size);
    }
}

const _: () = assert!(EXTRA >= LEAST_ALIGN, "a block of the smallest alignment is a multiple of it");
