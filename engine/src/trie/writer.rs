//! Writes an image from sorted keys as they come.

use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

use super::MAX_KEY_LEN;
use super::image::{FileBuilder, Finished, Output, Recipe, VARIABLE};
use super::stored::Stored;
use super::value::Value;
use crate::error::{Error, Result};
use crate::format::{Disk, Replacement, Storage, Target};
use crate::symbol::Symbol;

/// What an image is to be best at. All profiles give the same answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// The fastest lookups: a point index beside the nodes, which takes the keys, the values and about 5 bytes a key more. The
    /// writer holds as much in memory.
    Fast,
    /// Fast lookups in little space.
    #[default]
    Balanced,
    /// The least space: keys of a bucket leave out what they share with the one before. Lookups take longer.
    Compact,
}

/// Writes an image to a path, which becomes visible, whole and durable with [`finish`](Self::finish).
///
/// Holds little: about 2 MiB of the file, 1/1000 of it for checksums, the nodes on the way to the last key with their
/// finished children, and up to 64 MiB of inner nodes. With [`Profile::Fast`] also the point index. Dropped before the end, it leaves the path alone.
pub struct ImageWriter<'s, K, V: ?Sized> {
    builder: FileBuilder,
    out: Output<'s>,
    value: Vec<u8>,
    types: PhantomData<fn(&K, &V)>,
}

impl<K: Symbol, V: Stored + ?Sized> ImageWriter<'static, K, V> {
    /// Begins an image that will be at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if there can be no file beside `path`.
    pub fn create(path: impl AsRef<Path>, profile: Profile) -> Result<Self> {
        Self::create_on(&Disk, path, profile, 1)
    }
}

impl<'s, K: Symbol, V: Stored + ?Sized> ImageWriter<'s, K, V> {
    /// As [`create`](Self::create), on another storage, and with the sequence number that the header is to have.
    ///
    /// # Errors
    ///
    /// As for [`create`](Self::create).
    pub fn create_on(
        storage: &'s dyn Storage,
        path: impl AsRef<Path>,
        profile: Profile,
        created_seq: u64,
    ) -> Result<Self> {
        let recipe = Recipe {
            key_kind: K::KIND,
            value_width: V::WIDTH,
            ranks: V::RANKED,
            front_coded: profile == Profile::Compact,
            point: profile == Profile::Fast,
            created_seq,
        };
        let (builder, out) = FileBuilder::new(recipe, Some(Replacement::begin(storage, path.as_ref())?));
        Ok(Self { builder, out, value: Vec::new(), types: PhantomData })
    }

    /// Adds a key that is above all before it, and its value.
    ///
    /// Takes time in proportion to the key and the value, plus that of the nodes that are complete with it.
    ///
    /// # Errors
    ///
    /// [`Error::KeyOrder`] and [`Error::KeyTooLong`], after which other keys may follow. After [`Error::Io`],
    /// [`Error::ImageTooLarge`] and values of more than 4 GiB, which are refused as too large, the writer is of no use.
    pub fn push(&mut self, key: &K::Key, value: V::Write<'_>) -> Result<()> {
        let key = K::bytes(key);
        if let Some(before) = self.builder.last()
            && before >= key
        {
            return Err(Error::KeyOrder { before: shown(before), key: shown(key) });
        }
        if key.len() > MAX_KEY_LEN {
            return Err(Error::KeyTooLong { len: key.len(), limit: MAX_KEY_LEN });
        }
        self.value.clear();
        V::write(value, &mut self.value);
        self.builder.push(key, &self.value, &mut self.out)
    }

    /// Completes the image and puts it in the place of whatever is at the path.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]: the path is then what it was, unless it was the sync of the directory that failed.
    /// [`Error::ImageTooLarge`].
    pub fn finish(self) -> Result<()> {
        match self.builder.finish(self.out)? {
            Finished::Storage(file) => file.commit(Target::Replace),
            Finished::Memory(_) => Ok(()),
        }
    }
}

/// The bytes of an image of the entries that `fill` pushes, in order, each once, as [`Profile::Balanced`] has them.
pub(crate) fn image_to_bytes<K: Symbol, V: Value, E: From<Error>>(
    fill: impl FnOnce(&mut dyn FnMut(&K::Key, V) -> Result<()>) -> std::result::Result<(), E>,
) -> std::result::Result<Vec<u8>, E> {
    let recipe = Recipe {
        key_kind: K::KIND,
        value_width: <V as Value>::WIDTH,
        ranks: false,
        front_coded: false,
        point: false,
        created_seq: 1,
    };
    let (mut builder, mut out) = FileBuilder::new(recipe, None);
    let width = usize::from(<V as Value>::WIDTH);
    fill(&mut |key, value| {
        let mut bytes = [0; 8];
        value.encode(&mut bytes[..width]);
        builder.push(K::bytes(key), &bytes[..width], &mut out)
    })?;
    match builder.finish(out)? {
        Finished::Memory(bytes) => Ok(bytes),
        Finished::Storage(_) => unreachable!("the output was made without storage"),
    }
}

fn shown(key: &[u8]) -> String {
    const MOST: usize = 60;
    let cut = if key.len() > MOST { ".." } else { "" };
    format!("{}{cut}", key[..key.len().min(MOST)].escape_ascii())
}

impl<K: Symbol, V: Stored + ?Sized> fmt::Debug for ImageWriter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variable = V::WIDTH == VARIABLE;
        f.debug_struct("ImageWriter").field("keys", &K::KIND).field("variable_values", &variable).finish()
    }
}
