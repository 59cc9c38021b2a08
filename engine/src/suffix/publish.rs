//! The newest version of something: readers take it without waiting, one writer at a time puts a newer one in its place.

#[cfg(not(loom))]
use {arc_swap::ArcSwap, std::sync::Mutex};

#[cfg(loom)]
use loom::sync::Mutex;
use std::sync::{Arc, PoisonError};

/// The place of the newest version. Under loom a lock stands in for the atomic pointer: what is explored there is that
/// writers neither lose nor mix what others published, and that a reader has a whole version.
pub(super) struct Published<T> {
    #[cfg(not(loom))]
    newest: ArcSwap<T>,
    #[cfg(loom)]
    newest: Mutex<Arc<T>>,
    writer: Mutex<()>,
}

impl<T> Published<T> {
    pub(super) fn new(first: T) -> Self {
        #[cfg(not(loom))]
        let newest = ArcSwap::from_pointee(first);
        #[cfg(loom)]
        let newest = Mutex::new(Arc::new(first));
        Self { newest, writer: Mutex::new(()) }
    }

    /// The newest version.
    pub(super) fn load(&self) -> Arc<T> {
        #[cfg(not(loom))]
        return self.newest.load_full();
        #[cfg(loom)]
        return Arc::clone(&self.newest.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Makes a version from the newest one and publishes it; nothing changes if there is an error.
    pub(super) fn update<R, E>(&self, make: impl FnOnce(&T) -> Result<(T, R), E>) -> Result<R, E> {
        // A writer that panicked has published nothing, so what is there is whole.
        let writing = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let (version, result) = make(&self.load())?;
        #[cfg(not(loom))]
        self.newest.store(Arc::new(version));
        #[cfg(loom)]
        {
            *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(version);
        }
        drop(writing);
        Ok(result)
    }

    /// Follows the newest version for one reader, which looks at one pointer as long as nothing is published.
    pub(super) fn follow(&self) -> Follower<'_, T> {
        #[cfg(not(loom))]
        return Follower { newest: arc_swap::Cache::new(&self.newest) };
        #[cfg(loom)]
        return Follower { published: self, newest: self.load() };
    }
}

/// See [`Published::follow`].
pub(super) struct Follower<'p, T> {
    #[cfg(not(loom))]
    newest: arc_swap::Cache<&'p ArcSwap<T>, Arc<T>>,
    #[cfg(loom)]
    published: &'p Published<T>,
    #[cfg(loom)]
    newest: Arc<T>,
}

impl<T> Follower<'_, T> {
    #[inline]
    pub(super) fn load(&mut self) -> &Arc<T> {
        #[cfg(not(loom))]
        return self.newest.load();
        #[cfg(loom)]
        {
            self.newest = self.published.load();
            &self.newest
        }
    }
}
