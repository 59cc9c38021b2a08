//! Opens a store: reads the manifest, opens its images, replays its log.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::checkpoint::open_images;
use super::files::{self, Listing, MANIFEST, Role};
use super::log::Log;
use super::manifest::{MANIFEST_LEN, Manifest};
use super::memtable::Memtable;
use super::options::{Durability, StoreOptions};
use super::record::Record;
use super::segment::{self, HEADER, SegmentHeader};
use super::sort::{Logged, sort};
use super::version::Version;
use crate::error::{Error, Result};
use crate::format::{self, Storage, Target};
use crate::symbol::Symbol;
use crate::trie::{OpenOptions, Value, Verify};

/// What was found.
pub(super) struct Recovered<K, V> {
    pub(super) version: Version<K, V>,
    pub(super) log: Log,
    pub(super) manifest: Manifest,
    pub(super) operations: u64,
    pub(super) cut: u64,
}

/// Makes the directory of a store, if there is none.
pub(super) fn make_directory(directory: &Path) -> Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    fs::create_dir(directory).map_err(|source| Error::io("create", directory, source))?;
    let parent = match directory.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    format::Disk.sync_directory(parent).map_err(|source| Error::io("sync the directory", parent, source))
}

pub(super) fn recover<K: Symbol, V: Value>(
    storage: &Arc<dyn Storage>,
    directory: &Path,
    options: StoreOptions,
    pinned: &Arc<AtomicU64>,
) -> Result<Recovered<K, V>> {
    let path = directory.join(MANIFEST);
    let manifest = match read_manifest(&path)? {
        Some(bytes) => Manifest::read(&bytes, &path, K::KIND, V::WIDTH)?,
        None => create::<K, V>(storage, directory)?,
    };
    let listing = Listing::read(directory)?;
    let mut replay = Replay { memory: Memtable::default(), len: manifest.len, operations: 0, open: false };
    let (end, before, cut) = replay_segments::<K, V>(directory, &listing, &manifest, &mut replay)?;
    // A crash may have left anything that was not synced, so nothing is taken on trust.
    let verify = match options.verify {
        Verify::Header if replay.open => Verify::Full,
        verify => verify,
    };
    let opening = OpenOptions::new().verify(verify).backing(options.backing);
    let (base, delta, gone) = open_images(directory, &manifest, opening, pinned)?;
    tidy(storage, directory, &listing, &manifest)?;
    let version =
        Version { seq: end.2, len: replay.len, memory: replay.memory, frozen: None, base, delta, gone };
    let sync_first = options.durability != Durability::Async;
    let log = Log::after(Arc::clone(storage), directory, end, before, sync_first);
    Ok(Recovered { version, log, manifest, operations: replay.operations, cut })
}

fn read_manifest(path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::io("open", path, source)),
    };
    let mut bytes = Vec::new();
    file.take(MANIFEST_LEN as u64)
        .read_to_end(&mut bytes)
        .map_err(|source| Error::io("read", path, source))?;
    Ok(Some(bytes))
}

/// Makes an empty store. The manifest comes last: before it there is no store.
fn create<K: Symbol, V: Value>(storage: &Arc<dyn Storage>, directory: &Path) -> Result<Manifest> {
    let path = directory.join(MANIFEST);
    for (role, number) in Listing::read(directory)?.numbered {
        let file = files::path(directory, role, number);
        let len = file.metadata().map_err(|source| Error::io("read", &file, source))?.len();
        if role != Role::Segment || number > 1 || len > HEADER as u64 {
            let reason = format!("it is missing, and `{}` is there", file.display());
            return Err(Error::corrupt(&path, 0, reason));
        }
    }
    Log::after(Arc::clone(storage), directory, (0, 0, 0), 0, true).rotate()?;
    let manifest = Manifest {
        kind: K::KIND,
        width: V::WIDTH,
        generation: 1,
        seq: 0,
        len: 0,
        segment: 1,
        base: 0,
        delta: 0,
        gone: 0,
    };
    format::publish(&**storage, &path, &manifest.file(), Target::Replace)?;
    Ok(manifest)
}

struct Replay {
    memory: Memtable,
    len: u64,
    operations: u64,
    /// The log does not end as a store that was closed leaves it.
    open: bool,
}

impl Replay {
    /// Counts the operations of the record that ends at byte `end` of a segment, and puts them at the end of `logged`.
    fn record<K: Symbol, V: Value>(
        &mut self,
        record: Record<'_>,
        end: usize,
        logged: &mut Vec<Logged>,
    ) -> std::result::Result<(), &'static str> {
        self.open = true;
        let mut operations = record.operations(K::KIND, usize::from(V::WIDTH));
        while let Some(operation) = operations.next() {
            let operation = operation?;
            self.len = match (operation.change, operation.replaced) {
                (Some(_), false) => self.len.checked_add(1),
                (None, _) => self.len.checked_sub(1),
                _ => Some(self.len),
            }
            .ok_or("a removal from an empty store")?;
            let gone = operation.change.is_none();
            let behind = end - operations.left();
            let place = behind - if gone { 0 } else { usize::from(V::WIDTH) } - operation.key.len();
            logged.push(Logged::new(place, operation.key.len(), gone));
            self.operations += 1;
        }
        if record.is_empty() {
            self.open = false;
        }
        Ok(())
    }
}

/// Replays the log. Returns the last segment with its end and last commit, the bytes of those before, and what was cut.
fn replay_segments<K: Symbol, V: Value>(
    directory: &Path,
    listing: &Listing,
    manifest: &Manifest,
    replay: &mut Replay,
) -> Result<((u64, u64, u64), u64, u64)> {
    let path = |epoch| files::path(directory, Role::Segment, epoch);
    let epochs: Vec<u64> = listing.segments().filter(|&epoch| epoch >= manifest.segment).collect();
    if let Some((missing, _)) = (manifest.segment..).zip(&epochs).find(|(wanted, found)| wanted != *found) {
        let reason = "it is missing, and the manifest or a later segment needs it";
        return Err(Error::corrupt(&path(missing), 0, reason));
    }
    let mut before = 0;
    let mut last: Option<Loaded> = None;
    for &epoch in &epochs {
        let next = Loaded::read(path(epoch), epoch)?;
        let Some(next) = next else {
            if Some(&epoch) != epochs.last() || last.is_none() {
                return Err(Error::corrupt(&path(epoch), 0, "the header of the log segment is missing"));
            }
            break;
        };
        let expected = match last {
            None => manifest.seq,
            Some(last) => {
                let end = next.header.previous_end;
                let (end, seq) = last.replay::<K, V>(Some(end), replay)?;
                before += end;
                seq
            }
        };
        if next.header.seq != expected {
            let found = next.header.seq;
            let reason = format!("it follows commit {found}, and the last one before it is {expected}");
            return Err(Error::corrupt(&next.path, 32, reason));
        }
        last = Some(next);
    }
    let Some(last) = last else {
        return Err(Error::corrupt(&path(manifest.segment), 0, "it is missing, and the manifest needs it"));
    };
    let (epoch, len) = (last.header.epoch, last.bytes.len() as u64);
    let (end, seq) = last.replay::<K, V>(None, replay)?;
    if end < len {
        replay.open = true;
    }
    Ok(((epoch, end, seq), before, len - end))
}

/// The value of `width` bytes at byte `at` of a segment.
fn value_at(segment: &[u8], at: usize, width: usize) -> u64 {
    let mut value = [0; 8];
    value[..width].copy_from_slice(&segment[at..at + width]);
    u64::from_le_bytes(value)
}

struct Loaded {
    path: std::path::PathBuf,
    header: SegmentHeader,
    bytes: Vec<u8>,
}

impl Loaded {
    fn read(path: std::path::PathBuf, epoch: u64) -> Result<Option<Self>> {
        let bytes = fs::read(&path).map_err(|source| Error::io("read", &path, source))?;
        let header = SegmentHeader::decode(&bytes, epoch, &path)?;
        Ok(header.map(|header| Self { path, header, bytes }))
    }

    fn replay<K: Symbol, V: Value>(self, end: Option<u64>, replay: &mut Replay) -> Result<(u64, u64)> {
        let mut logged = Vec::new();
        let each = |record: Record<'_>, end| replay.record::<K, V>(record, end, &mut logged);
        let ended = segment::read(&self.bytes, self.header, end, &self.path, each)?;
        let bytes = self.bytes.as_slice();
        sort(&mut logged, bytes);
        // Of a key's operations the last one counts.
        let last = logged.chunk_by(|a, b| a.key(bytes) == b.key(bytes)).filter_map(<[Logged]>::last);
        replay.memory.fill(last.map(|operation| {
            let key = operation.key(bytes);
            let value = || value_at(bytes, operation.place() + key.len(), usize::from(V::WIDTH));
            (key, (!operation.gone).then(value))
        }));
        Ok(ended)
    }
}

/// Removes what no manifest names: leftovers of a crash.
fn tidy(storage: &Arc<dyn Storage>, directory: &Path, listing: &Listing, manifest: &Manifest) -> Result<()> {
    let needed = |&(role, number): &(Role, u64)| match role {
        Role::Segment => number >= manifest.segment,
        Role::Base => number == manifest.base,
        Role::Delta => number == manifest.delta,
        Role::Gone => number == manifest.gone,
    };
    let named = listing.numbered.iter().filter(|file| !needed(file));
    let mut leftovers: Vec<_> = named.map(|&(role, number)| files::path(directory, role, number)).collect();
    leftovers.extend(listing.temporary.iter().cloned());
    if leftovers.is_empty() {
        return Ok(());
    }
    // The manifest that was read may never have reached the disk, and the one before may need them.
    let path = directory.join(MANIFEST);
    let mut file = storage.append(&path).map_err(|source| Error::io("open", &path, source))?;
    file.sync().map_err(|source| Error::io("sync", &path, source))?;
    storage.sync_directory(directory).map_err(|source| Error::io("sync the directory", directory, source))?;
    for leftover in leftovers {
        // What cannot be removed is tried again by the next opening.
        let _ = storage.remove(&leftover);
    }
    Ok(())
}
