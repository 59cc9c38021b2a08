//! The lock of what threads share: the library's, without poison, since nothing here unwinds.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A value that one thread at a time can use. It neither allocates nor panics.
pub(super) struct Lock<T> {
    value: Mutex<T>,
    /// Written by who leaves and read by who enters. The lock itself orders them already, but when it had to wait it did so
    /// in the standard library, whose code ThreadSanitizer does not see: without this it takes every use of what is
    /// guarded for a race.
    passed_on: AtomicBool,
}

impl<T> Lock<T> {
    pub(super) const fn new(value: T) -> Self {
        Self { value: Mutex::new(value), passed_on: AtomicBool::new(false) }
    }

    /// Waits until nobody else has the value.
    pub(super) fn lock(&self) -> Locked<'_, T> {
        self.locked(self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The value, unless somebody has it at this moment.
    pub(super) fn try_lock(&self) -> Option<Locked<'_, T>> {
        match self.value.try_lock() {
            Ok(value) => Some(self.locked(value)),
            Err(TryLockError::Poisoned(value)) => Some(self.locked(value.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn locked<'a>(&'a self, value: MutexGuard<'a, T>) -> Locked<'a, T> {
        self.passed_on.load(Ordering::Acquire);
        Locked { value, passed_on: &self.passed_on }
    }
}

/// The value of a [`Lock`], until it is dropped.
pub(super) struct Locked<'a, T> {
    value: MutexGuard<'a, T>,
    passed_on: &'a AtomicBool,
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        self.passed_on.store(true, Ordering::Release);
    }
}
