//! The engine's images, and its heap nodes.

use super::{Dictionary, Structure};
use crate::questions::Questions;
use engine::trie::Stored;
use engine::{CharImage, CharTrie, ImageWriter, LoadStrategy, Profile, Rank, Verify};
use harness::worker::{Error, Result};
use std::path::Path;

pub(super) static TRIE: Structure = Structure {
    name: "trie",
    file: "trie",
    ours: true,
    ranks: true,
    build: |path, keys| write::<u64>(path, keys, Profile::Balanced, |rank| rank),
    open: |path| open::<u64>(path, Verify::Header),
};

pub(super) static TRIE_MANY: Structure =
    Structure { name: "trie-many", open: |path| Ok(Box::new(Many(image(path, Verify::Header)?))), ..TRIE };

pub(super) static TRIE_VERIFIED: Structure =
    Structure { name: "trie-verified", open: |path| open::<u64>(path, Verify::Full), ..TRIE };

pub(super) static RANKS: Structure = Structure {
    name: "trie-ranks",
    file: "trie-ranks",
    ours: true,
    ranks: true,
    build: |path, keys| write::<Rank>(path, keys, Profile::Balanced, |_| ()),
    open: |path| open::<Rank>(path, Verify::Header),
};

pub(super) static COMPACT: Structure = Structure {
    name: "trie-compact",
    file: "trie-compact",
    ours: true,
    ranks: true,
    build: |path, keys| write::<Rank>(path, keys, Profile::Compact, |_| ()),
    open: |path| open::<Rank>(path, Verify::Header),
};

pub(super) static POINT: Structure = Structure {
    name: "point",
    file: "point",
    ours: true,
    ranks: true,
    build: |path, keys| write::<u64>(path, keys, Profile::Fast, |rank| rank),
    open: |path| open::<u64>(path, Verify::Header),
};

pub(super) static POINT_MANY: Structure =
    Structure { name: "point-many", open: |path| Ok(Box::new(Many(image(path, Verify::Header)?))), ..POINT };

pub(super) static EAGER: Structure = Structure {
    name: "trie-eager",
    open: |path| {
        let trie = CharTrie::<u64>::open(path, LoadStrategy::Eager);
        Ok(Box::new(trie.map_err(Error::context("failed to open the trie"))?))
    },
    ..TRIE
};

/// An image that is asked many things at once.
struct Many(CharImage<u64>);

fn write<V: Stored>(
    path: &Path,
    keys: &[String],
    profile: Profile,
    value: impl Fn(u64) -> V::Write<'static>,
) -> Result<()> {
    let all = || -> engine::Result<()> {
        let mut writer = ImageWriter::<char, V>::create(path, profile)?;
        for (key, rank) in keys.iter().zip(0..) {
            writer.push(key, value(rank))?;
        }
        writer.finish()
    };
    all().map_err(Error::context("failed to write the image"))
}

fn image<V: Stored>(path: &Path, verify: Verify) -> Result<CharImage<V>> {
    CharImage::open(path, verify).map_err(Error::context("failed to open the image"))
}

fn open<V: Stored>(path: &Path, verify: Verify) -> Result<Box<dyn Dictionary>>
where
    CharImage<V>: Dictionary + 'static,
{
    Ok(Box::new(image::<V>(path, verify)?))
}

impl<V: for<'i> Stored<Read<'i> = u64>> Dictionary for CharImage<V> {
    #[inline]
    fn get(&self, key: &str) -> Option<u64> {
        CharImage::get(self, key).ok().flatten()
    }
}

impl Dictionary for Many {
    fn get(&self, key: &str) -> Option<u64> {
        self.0.get(key).ok().flatten()
    }

    fn pass(&self, questions: &Questions) -> (u64, u64) {
        let mut keys: Vec<&str> = Vec::with_capacity(1_024);
        let mut total = (0, 0);
        let mut ask = |keys: &mut Vec<&str>| {
            for value in self.0.get_many(keys).ok().into_iter().flatten().flatten() {
                total = (total.0 + 1, total.1 + value);
            }
            keys.clear();
        };
        for key in questions.iter() {
            keys.push(key);
            if keys.len() == 1_024 {
                ask(&mut keys);
            }
        }
        ask(&mut keys);
        total
    }
}

impl Dictionary for CharTrie<u64> {
    #[inline]
    fn get(&self, key: &str) -> Option<u64> {
        CharTrie::get(self, key).ok().flatten()
    }
}
