//! Which heap a thread has: from its first allocation to its end, and over a fork.

use std::cell::{Cell, UnsafeCell};
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use super::gates::Configuration;
use super::local::{self, Local, NOTHING};
use super::lock::{Lock, Locked};
use super::sizes::CLASSES;
use super::{checked, depot, pool};

/// How far a thread has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has not allocated yet.
    Fresh,
    /// It has a heap.
    Live,
    /// It has given its heap back: what still runs in it uses the heap of the ended threads.
    Ended,
    /// Debug mode: one checked heap serves all threads.
    Checked,
}

struct Here {
    local: Cell<*mut Local>,
    stage: Cell<Stage>,
}

thread_local! {
    // No destructor and nothing to compute: reading it is reading memory, at any time of a thread's life.
    static HERE: Here = const { Here { local: Cell::new(NOTHING.get()), stage: Cell::new(Stage::Fresh) } };
}

/// A list of heaps behind a lock.
struct Heaps(*mut Local);

// SAFETY: the pointer is used through the lock only.
unsafe impl Send for Heaps {}

/// Heaps whose thread has ended.
static IDLE: Lock<Heaps> = Lock::new(Heaps(null_mut()));
/// The heap of ended threads: it has no bins, each block comes from a span and goes to it.
static ENDED: Lock<Heaps> = Lock::new(Heaps(null_mut()));
/// All heaps there ever were.
static EVERY: AtomicPtr<Local> = AtomicPtr::new(null_mut());
/// The thread-specific key whose destructor tells that a thread ends, plus 1.
static KEY: AtomicU32 = AtomicU32::new(0);
static FORKS_WATCHED: AtomicBool = AtomicBool::new(false);

/// The heap of this thread, or the one that has nothing.
#[inline(always)]
pub(super) fn local() -> *mut Local {
    HERE.with(|it| it.local.get())
}

/// How far this thread has come. A fresh thread gets its heap, unless the system refuses.
#[inline]
pub(super) fn stage() -> Stage {
    match HERE.with(|it| it.stage.get()) {
        Stage::Fresh => start(),
        stage => stage,
    }
}

#[cold]
fn start() -> Stage {
    let configuration = Configuration::get();
    if configuration.debug {
        HERE.with(|it| it.stage.set(Stage::Checked));
        checked::start();
        return Stage::Checked;
    }
    let local = adopt(configuration);
    if local.is_null() {
        return Stage::Fresh;
    }
    HERE.with(|it| {
        it.local.set(local);
        it.stage.set(Stage::Live);
    });
    // From here on the thread can allocate: the C library may, below.
    watch_end(local);
    if !FORKS_WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: the handlers stay valid for the life of the process.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
    }
    Stage::Live
}

/// A heap without a thread, or a new one; null when the system refuses.
fn adopt(configuration: Configuration) -> *mut Local {
    let mut idle = IDLE.lock();
    let local = idle.0;
    if local.is_null() {
        drop(idle);
        let local = local::map(configuration);
        if !local.is_null() {
            register(local);
        }
        return local;
    }
    // SAFETY: what is in the list has no thread, so this one has it to itself.
    unsafe {
        idle.0 = (*local).idle;
        drop(idle);
        local::open(local, configuration);
    }
    local
}

fn register(local: *mut Local) {
    let mut first = EVERY.load(Ordering::Relaxed);
    loop {
        // SAFETY: nobody else knows the heap yet.
        unsafe { (*local).every = first };
        match EVERY.compare_exchange_weak(first, local, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => first = now,
        }
    }
}

/// Calls `visit` with every heap there ever was.
pub(super) fn for_each(mut visit: impl FnMut(*mut Local)) {
    let mut local = EVERY.load(Ordering::Acquire);
    while !local.is_null() {
        visit(local);
        // SAFETY: heaps are never unmapped, and the link does not change any more.
        local = unsafe { (*local).every };
    }
}

/// Has the heap given back when this thread ends.
///
/// A thread-specific key is used since its destructors run after those of all `thread_local!` values, which may still
/// allocate and free.
fn watch_end(local: *mut Local) {
    let mut key = KEY.load(Ordering::Acquire);
    if key == 0 {
        let mut made = 0;
        // SAFETY: the key is written before it is read.
        if unsafe { libc::pthread_key_create(&mut made, Some(end)) } != 0 {
            // Out of keys: the heaps of ended threads are not used again.
            return;
        }
        key = made + 1;
        if let Err(theirs) = KEY.compare_exchange(0, key, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: no thread has a value under the key just made.
            unsafe { libc::pthread_key_delete(made) };
            key = theirs;
        }
    }
    // SAFETY: the key was made and is never deleted.
    unsafe { libc::pthread_setspecific(key - 1, local.cast::<libc::c_void>().cast_const()) };
}

/// The thread ends: its heap goes to the next one.
unsafe extern "C" fn end(local: *mut libc::c_void) {
    let local: *mut Local = local.cast();
    HERE.with(|it| {
        it.local.set(NOTHING.get());
        it.stage.set(Stage::Ended);
    });
    // SAFETY: the value of the key is this thread's heap, which nothing reaches any more.
    unsafe {
        local::close(local);
        let mut idle = IDLE.lock();
        (*local).idle = idle.0;
        idle.0 = local;
    }
}

/// A block for a thread that has ended; null when the system refuses.
#[cold]
pub(super) fn take_ended(class: usize) -> *mut u8 {
    let mut heaps = ENDED.lock();
    let Some(local) = ended(&mut heaps) else { return null_mut() };
    let mut block = null_mut();
    // SAFETY: the lock makes this thread the heap's only one.
    unsafe { local::take(local, class, &raw mut block, 1) };
    block
}

/// Gives a block of a thread that has ended.
///
/// # Safety
///
/// `block` is of a small class and used no more.
#[cold]
pub(super) unsafe fn give_ended(mut block: *mut u8) {
    let mut heaps = ENDED.lock();
    // Without a heap there is no list to put the block on; it is lost, as the system has no memory at all.
    let Some(local) = ended(&mut heaps) else { return };
    // SAFETY: the lock makes this thread the heap's only one.
    unsafe { local::give(local, &raw mut block, 1) };
}

fn ended(heaps: &mut Heaps) -> Option<*mut Local> {
    if heaps.0.is_null() {
        heaps.0 = local::map(Configuration::default());
        if !heaps.0.is_null() {
            register(heaps.0);
        }
    }
    (!heaps.0.is_null()).then_some(heaps.0)
}

/// Gives back what this thread and the ended ones have cached, what waits in the depot, and the memory of all free spans.
pub(super) fn purge() {
    if stage() == Stage::Live {
        // SAFETY: it is this thread's heap.
        unsafe {
            local::clear_depot(local());
            local::purge(local());
        }
    }
    let idle = IDLE.lock();
    let mut local = idle.0;
    while !local.is_null() {
        // SAFETY: what is in the list has no thread, and the lock keeps others from adopting it.
        unsafe {
            local::purge(local);
            local = (*local).idle;
        }
    }
    let ended = ENDED.lock();
    if !ended.0.is_null() {
        // SAFETY: the lock makes this thread the heap's only one.
        unsafe { local::purge(ended.0) };
    }
    pool::lock().purge();
}

/// The locks that a forking thread holds, so that the child finds nothing half done behind them.
type Held = (
    Locked<'static, Heaps>,
    Locked<'static, Heaps>,
    Locked<'static, checked::Heap>,
    Locked<'static, pool::Pool>,
    [Locked<'static, depot::Blocks>; CLASSES],
);

struct Fork(UnsafeCell<Option<Held>>);

// SAFETY: written and taken by the thread that holds the locks, of which there is one at a time.
unsafe impl Sync for Fork {}

static FORK: Fork = Fork(UnsafeCell::new(None));

/// Takes all locks, in the order in which they are taken elsewhere.
pub(super) unsafe extern "C" fn before_fork() {
    let held = (IDLE.lock(), ENDED.lock(), checked::lock(), pool::lock(), depot::lock());
    // SAFETY: this thread holds the locks.
    unsafe { ptr::write(FORK.0.get(), Some(held)) };
}

/// Lets them go, in the parent and in the child.
///
/// In the child the heaps of the other threads stay as they are: they may have been in the middle of something, so their
/// cached blocks are lost to the child. Blocks that it frees into them are kept in their mailboxes.
pub(super) unsafe extern "C" fn after_fork() {
    // SAFETY: this thread, or the one it is the copy of, holds the locks.
    drop(unsafe { (*FORK.0.get()).take() });
}
