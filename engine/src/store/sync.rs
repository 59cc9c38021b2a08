//! What threads meet at: the standard library's locks and an atomically exchanged pointer, or loom's under `cfg(loom)`.

#[cfg(loom)]
pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use std::sync::PoisonError;

/// Locks, also after a panic of another thread: what locks guard here is changed by moves that cannot panic halfway.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn wait<'m, T>(condition: &Condvar, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Waits while something holds, at most so long. Loom knows no time: there the wait is over at once, as it may be here.
#[cfg(not(loom))]
pub(super) fn wait_while<'m, T>(
    condition: &Condvar,
    guard: MutexGuard<'m, T>,
    most: std::time::Duration,
    holds: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'m, T> {
    condition.wait_timeout_while(guard, most, holds).unwrap_or_else(PoisonError::into_inner).0
}

#[cfg(loom)]
pub(super) fn wait_while<'m, T>(
    _: &Condvar,
    guard: MutexGuard<'m, T>,
    _: std::time::Duration,
    _: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'m, T> {
    guard
}

/// The version that readers see.
#[cfg(not(loom))]
pub(super) type Published<T> = arc_swap::ArcSwap<T>;

/// Loom cannot look into the library's cell, so its place is taken by a lock with the same meaning.
#[cfg(loom)]
pub(super) struct Published<T>(Mutex<Arc<T>>);

#[cfg(loom)]
impl<T> Published<T> {
    pub(super) fn new(version: Arc<T>) -> Self {
        Self(Mutex::new(version))
    }

    pub(super) fn load_full(&self) -> Arc<T> {
        Arc::clone(&lock(&self.0))
    }

    pub(super) fn store(&self, version: Arc<T>) {
        *lock(&self.0) = version;
    }
}
