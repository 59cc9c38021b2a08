//! How a store is opened, and what it tells about itself.

use std::time::Duration;

use super::pipeline::Gather;
use crate::trie::{Backing, Profile, Verify};

/// When a commit is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// When it is on the disk. Commits of several threads that wait at the same time share one sync.
    #[default]
    Sync,
    /// When it is on the disk, and a sync waits for company: until so many bytes of the log are waiting, but not longer
    /// than `max_wait`. For many threads on a slow disk; a thread alone waits for nothing each time.
    Group {
        /// The longest wait before a sync.
        max_wait: Duration,
        /// Bytes of the log that are worth a sync.
        max_bytes: usize,
    },
    /// When the system has it: it outlives the process, but what came after the last
    /// [`sync`](super::Store::sync) or [`checkpoint`](super::Store::checkpoint) may be lost if the system stops. Then a first
    /// part of the commits remains, none without those before it.
    Async,
}

impl Durability {
    pub(super) fn gather(self) -> Option<Gather> {
        match self {
            Self::Group { max_wait, max_bytes } => Some(Gather { wait: max_wait, bytes: max_bytes }),
            Self::Sync | Self::Async => None,
        }
    }
}

/// Options of [`Store::open`](super::Store::open): every commit synced, headers verified, images balanced and mapped, unless told
/// otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreOptions {
    pub(super) durability: Durability,
    pub(super) profile: Profile,
    pub(super) verify: Verify,
    pub(super) backing: Backing,
}

impl StoreOptions {
    /// Every commit synced, headers verified, images balanced and mapped.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets when a commit is acknowledged.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets what images that checkpoints write are best at.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets what opening verifies. After a crash every page is verified, whatever this says.
    #[must_use]
    pub fn verify(mut self, verify: Verify) -> Self {
        self.verify = verify;
        self
    }

    /// Sets where the bytes of images come from.
    #[must_use]
    pub fn backing(mut self, backing: Backing) -> Self {
        self.backing = backing;
        self
    }
}

impl From<Durability> for StoreOptions {
    fn from(durability: Durability) -> Self {
        Self::new().durability(durability)
    }
}

/// What a store is made of at a moment, and what it did since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Number of the last commit that readers see.
    pub seq: u64,
    /// Keys there are.
    pub keys: u64,
    /// Changes in memory that no image has.
    pub memory_keys: u64,
    /// Bytes of their keys.
    pub memory_bytes: u64,
    /// Keys of the base image.
    pub base_keys: u64,
    /// Keys of the images that say what differs from the base.
    pub delta_keys: u64,
    /// Bytes of the log that opening would replay.
    pub log_bytes: u64,
    /// Bytes of replaced images that snapshots still hold.
    pub pinned_bytes: u64,
    /// Syncs of the log.
    pub syncs: u64,
    /// Checkpoints that put something into images.
    pub checkpoints: u64,
    /// Operations that opening replayed.
    pub recovered_operations: u64,
    /// Bytes behind the last whole commit that opening found and left out.
    pub cut_bytes: u64,
}
