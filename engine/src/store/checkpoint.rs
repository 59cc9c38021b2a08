//! Turns what is in memory into images, while writers go on.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::files::{self, Role};
use super::manifest::Manifest;
use super::memtable::Memtable;
use super::merge::{Merge, owned};
use super::version::{Frozen, Held, Version};
use super::{Store, sync};
use crate::error::{Error, Result};
use crate::symbol::Symbol;
use crate::trie::{Image, ImageWriter, OpenOptions, Stored, Value};

/// A delta of this part of the base is merged into it.
const PART: u64 = 8;

/// What checkpoints know of each other.
pub(super) struct Checkpoints {
    pub(super) manifest: Manifest,
    /// The first segment behind the frozen changes.
    pub(super) segment: u64,
}

/// An image while it is written, once it has a key.
struct Pending<'s, K, V: Stored> {
    writer: Option<ImageWriter<'s, K, V>>,
}

impl<K: Symbol, V: Value> Store<K, V> {
    /// Puts all commits so far into images, and forgets the log before. Writers and readers go on meanwhile; a commit that comes
    /// while the log is switched waits for three syncs instead of one.
    ///
    /// Changes go into a delta image beside the base. When it has 1/8 of the keys of the base, all are merged into a
    /// new base, which takes time in proportion to all keys: over many checkpoints a key is written about eight times to a
    /// base, and as often to a delta as checkpoints come before the merge.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if an image cannot be written: nothing is lost, and the next checkpoint tries again. If it was a sync
    /// that failed, or the log or the manifest, the store writes nothing any more ([`Error::Stopped`]).
    pub fn checkpoint(&self) -> Result<()> {
        let mut checkpoints = sync::lock(&self.checkpoints);
        let left_over = self.pipeline.published().load().frozen.is_some();
        if left_over {
            self.write_frozen(&mut checkpoints)?;
        }
        if let Some(reason) = self.pipeline.stopped() {
            return Err(self.refused(reason));
        }
        if self.pipeline.queue().head.memory.is_empty() {
            return Ok(());
        }
        self.freeze(&mut checkpoints)?;
        self.write_frozen(&mut checkpoints)
    }

    fn freeze(&self, checkpoints: &mut Checkpoints) -> Result<()> {
        let exchange = |head: &Version<K, V>| {
            let frozen = Frozen { memory: head.memory.clone(), seq: head.seq, len: head.len };
            Version { memory: Memtable::default(), frozen: Some(frozen), ..head.clone() }
        };
        let switched = self.pipeline.switch(exchange, |log| {
            log.rotate()?;
            checkpoints.segment = log.epoch();
            Ok(())
        });
        switched.map(drop).map_err(|error| self.stopped_by(error))
    }

    /// An error after which nothing that was synced later could be relied on.
    fn stopped_by(&self, error: Error) -> Error {
        self.pipeline.stop(error.with_cause());
        error
    }

    fn write_frozen(&self, checkpoints: &mut Checkpoints) -> Result<()> {
        let version = self.pipeline.published().load_full();
        let Some(frozen) = &version.frozen else { return Ok(()) };
        let manifest = self.write_images(&version, frozen, checkpoints).map_err(|error| match error {
            Error::Io { attempt, .. } if attempt.starts_with("sync") => self.stopped_by(error),
            error => error,
        })?;
        let opened = self.open_images(&manifest, OpenOptions::new().backing(self.options.backing))?;
        self.write_manifest(&manifest).map_err(|error| self.stopped_by(error))?;
        checkpoints.manifest = manifest;
        let (base, delta, gone) = opened;
        self.pipeline.install(|version| {
            let base =
                if manifest.delta == 0 && manifest.gone == 0 { base.clone() } else { version.base.clone() };
            Version { frozen: None, base, delta: delta.clone(), gone: gone.clone(), ..version.clone() }
        });
        self.forget(&version, &manifest);
        self.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Writes the images of a version whose frozen changes are in them.
    fn write_images(
        &self,
        version: &Version<K, V>,
        frozen: &Frozen,
        checkpoints: &Checkpoints,
    ) -> Result<Manifest> {
        let number = checkpoints.manifest.generation + 1;
        let changed = version.delta_len() + frozen.memory.len() as u64;
        let whole = changed.saturating_mul(PART) >= version.base_len();
        let merge = version.merge_frozen(whole)?;
        let role = if whole { Role::Base } else { Role::Delta };
        let base = version.base.as_deref().filter(|_| !whole);
        let (values, gone) = self.write_merge(merge, role, number, base)?;
        Ok(Manifest {
            generation: number,
            seq: frozen.seq,
            len: frozen.len,
            segment: checkpoints.segment,
            base: if whole { values } else { checkpoints.manifest.base },
            delta: if whole { 0 } else { values },
            gone,
            ..checkpoints.manifest
        })
    }

    /// Writes the values to one image and the keys of `base` that are gone to another, and returns their numbers.
    fn write_merge(
        &self,
        mut merge: Merge<'_, K, V>,
        role: Role,
        number: u64,
        base: Option<&Held<K, V>>,
    ) -> Result<(u64, u64)> {
        let (mut values, mut gone) = (Pending::<K, V> { writer: None }, Pending::<K, ()> { writer: None });
        while let Some(change) = merge.advance()? {
            let key = owned::<K>(merge.key())?;
            let key = std::borrow::Borrow::borrow(&key);
            match change {
                Some(value) => {
                    values.writer(self, role, number)?.push(key, value)?;
                }
                None => {
                    if let Some(base) = base
                        && base.image.contains(key)?
                    {
                        gone.writer(self, Role::Gone, number)?.push(key, ())?;
                    }
                }
            }
        }
        Ok((values.finish(number)?, gone.finish(number)?))
    }

    fn write_manifest(&self, manifest: &Manifest) -> Result<()> {
        let path = self.directory.join(files::MANIFEST);
        let (offset, slot) = manifest.encode();
        let mut file = self.storage.append(&path).map_err(|source| Error::io("open", &path, source))?;
        file.write_at(offset, &slot).map_err(|source| Error::io("write", &path, source))?;
        file.sync().map_err(|source| Error::io("sync", &path, source))
    }

    /// Removes what the manifest does not name any more. What cannot be removed is tried again by the next opening.
    fn forget(&self, old: &Version<K, V>, manifest: &Manifest) {
        let mut paths: Vec<&Path> = Vec::new();
        if let Some(held) = &old.delta {
            held.retire();
            paths.push(&held.path);
        }
        if let Some(held) = &old.gone {
            held.retire();
            paths.push(&held.path);
        }
        if let Some(held) = &old.base
            && held.path != files::path(&self.directory, Role::Base, manifest.base)
        {
            held.retire();
            paths.push(&held.path);
        }
        for path in paths {
            let _ = self.storage.remove(path);
        }
        let Ok(listing) = files::Listing::read(&self.directory) else { return };
        for epoch in listing.segments().filter(|&epoch| epoch < manifest.segment) {
            let _ = self.storage.remove(&files::path(&self.directory, Role::Segment, epoch));
        }
        self.pipeline.log().before = 0;
    }

    /// The images that a manifest names.
    pub(super) fn open_images(&self, manifest: &Manifest, options: OpenOptions) -> Result<Opened<K, V>> {
        open_images(&self.directory, manifest, options, &self.counters.pinned)
    }
}

/// Base, delta, and the removed keys of the base.
pub(super) type Opened<K, V> = (Option<Arc<Held<K, V>>>, Option<Arc<Held<K, V>>>, Option<Arc<Held<K, ()>>>);

/// Opens the images that a manifest names.
pub(super) fn open_images<K: Symbol, V: Value>(
    directory: &Path,
    manifest: &Manifest,
    options: OpenOptions,
    pinned: &Arc<std::sync::atomic::AtomicU64>,
) -> Result<Opened<K, V>> {
    fn open<K: Symbol, V: Stored>(
        directory: &Path,
        (role, number): (Role, u64),
        options: OpenOptions,
        pinned: &Arc<std::sync::atomic::AtomicU64>,
    ) -> Result<Option<Arc<Held<K, V>>>> {
        if number == 0 {
            return Ok(None);
        }
        let path = files::path(directory, role, number);
        let image = Image::open(&path, options)?;
        Ok(Some(Arc::new(Held::new(image, path, pinned))))
    }
    Ok((
        open(directory, (Role::Base, manifest.base), options, pinned)?,
        open(directory, (Role::Delta, manifest.delta), options, pinned)?,
        open(directory, (Role::Gone, manifest.gone), options, pinned)?,
    ))
}

impl<'s, K: Symbol, V: Stored> Pending<'s, K, V> {
    fn writer<S: Value>(
        &mut self,
        store: &'s Store<K, S>,
        role: Role,
        number: u64,
    ) -> Result<&mut ImageWriter<'s, K, V>> {
        if self.writer.is_none() {
            let path = files::path(&store.directory, role, number);
            let profile = store.options.profile;
            self.writer = Some(ImageWriter::create_on(&*store.storage, path, profile, number)?);
        }
        self.writer.as_mut().ok_or(Error::ImageTooLarge { limit: 0 })
    }

    fn finish(self, number: u64) -> Result<u64> {
        match self.writer {
            Some(writer) => writer.finish().map(|()| number),
            None => Ok(0),
        }
    }
}
