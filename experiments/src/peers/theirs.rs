//! Other people's dictionaries.

use super::{Dictionary, Structure};
use harness::worker::{Error, Result};
use heed::types::{Bytes, U64};
use memmap2::Mmap;
use redb::{ReadOnlyDatabase, ReadOnlyTable, ReadableDatabase, TableDefinition};
use std::cell::RefCell;
use std::fs::{self, File};
use std::path::Path;

fn failed<E: std::error::Error + Send + Sync + 'static>(
    attempt: &'static str,
    structure: &'static str,
) -> impl FnOnce(E) -> Error {
    Error::context(format!("failed to {attempt} the file of `{structure}`"))
}

/// Maps a file that the comparison built before.
fn map(path: &Path, structure: &'static str) -> Result<Mmap> {
    let file = File::open(path).map_err(failed("open", structure))?;
    // SAFETY: the file is scratch of this comparison, written once under another name and only read since.
    unsafe { Mmap::map(&file) }.map_err(failed("map", structure))
}

/// A minimised automaton: the smallest of all, ordered.
pub(super) static FST: Structure = Structure {
    name: "fst",
    file: "fst",
    ours: false,
    ranks: true,
    build: |path, keys| {
        let file = std::io::BufWriter::new(File::create(path).map_err(failed("create", "fst"))?);
        let mut builder = fst::MapBuilder::new(file).map_err(failed("build", "fst"))?;
        for (key, rank) in keys.iter().zip(0..) {
            builder.insert(key, rank).map_err(failed("build", "fst"))?;
        }
        builder.finish().map_err(failed("build", "fst"))
    },
    open: |path| Ok(Box::new(Fst(fst::Map::new(map(path, "fst")?).map_err(failed("open", "fst"))?))),
};

struct Fst(fst::Map<Mmap>);

impl Dictionary for Fst {
    #[inline]
    fn get(&self, key: &str) -> Option<u64> {
        self.0.get(key)
    }
}

/// A double array: fast, large, and slow to build.
pub(super) static YADA: Structure = Structure {
    name: "yada",
    file: "yada",
    ours: false,
    ranks: true,
    build: |path, keys| {
        let set: Vec<(&str, u32)> = keys.iter().map(String::as_str).zip(0..).collect();
        let bytes = yada::builder::DoubleArrayBuilder::build(&set)
            .map_err(|fault| Error::new(format!("failed to build the file of `yada`: {fault:?}")))?;
        fs::write(path, bytes).map_err(failed("write", "yada"))
    },
    open: |path| {
        let array = yada::DoubleArray::new(map(path, "yada")?);
        let array =
            array.map_err(|fault| Error::new(format!("failed to open the file of `yada`: {fault:?}")))?;
        Ok(Box::new(Yada(array)))
    },
};

struct Yada(yada::DoubleArray<Mmap>);

impl Dictionary for Yada {
    #[inline]
    fn get(&self, key: &str) -> Option<u64> {
        self.0.exact_match_search(key).map(u64::from)
    }
}

/// Nested LOUDS tries: small, ordered by weight.
pub(super) static MARISA: Structure = Structure {
    name: "marisa",
    file: "marisa",
    ours: false,
    ranks: false,
    build: |path, keys| {
        let mut set = rsmarisa::Keyset::new();
        for key in keys {
            set.push_back_str(key).map_err(failed("build", "marisa"))?;
        }
        let mut trie = rsmarisa::Trie::new();
        trie.build(&mut set, 0);
        trie.save(&path.to_string_lossy()).map_err(failed("write", "marisa"))
    },
    open: |path| {
        let mut trie = rsmarisa::Trie::new();
        trie.mmap(&path.to_string_lossy()).map_err(failed("map", "marisa"))?;
        let mut agent = rsmarisa::Agent::new();
        agent.init_state().map_err(failed("open", "marisa"))?;
        Ok(Box::new(Marisa { trie, agent: RefCell::new(agent) }))
    },
};

struct Marisa {
    trie: rsmarisa::Trie,
    agent: RefCell<rsmarisa::Agent>,
}

impl Dictionary for Marisa {
    fn get(&self, key: &str) -> Option<u64> {
        let mut agent = self.agent.borrow_mut();
        agent.set_query_str(key);
        self.trie.lookup(&mut agent).then(|| agent.key().id() as u64)
    }
}

const TABLE: TableDefinition<'_, &[u8], u64> = TableDefinition::new("ranks");

/// A B-tree store.
pub(super) static REDB: Structure = Structure {
    name: "redb",
    file: "redb",
    ours: false,
    ranks: true,
    build: |path, keys| {
        let all = || -> std::result::Result<(), redb::Error> {
            let base = redb::Database::create(path)?;
            let write = base.begin_write()?;
            {
                let mut table = write.open_table(TABLE)?;
                for (key, rank) in keys.iter().zip(0..) {
                    table.insert(key.as_bytes(), rank)?;
                }
            }
            write.commit()?;
            Ok(())
        };
        all().map_err(failed("build", "redb"))
    },
    open: |path| {
        let base = ReadOnlyDatabase::open(path).map_err(failed("open", "redb"))?;
        let read = base.begin_read().map_err(failed("read", "redb"))?;
        let table = read.open_table(TABLE).map_err(failed("read", "redb"))?;
        Ok(Box::new(Redb { table, _base: base }))
    },
};

struct Redb {
    table: ReadOnlyTable<&'static [u8], u64>,
    _base: ReadOnlyDatabase,
}

impl Dictionary for Redb {
    fn get(&self, key: &str) -> Option<u64> {
        self.table.get(key.as_bytes()).ok().flatten().map(|guard| guard.value())
    }
}

/// LMDB, in one file.
pub(super) static LMDB: Structure = Structure {
    name: "lmdb",
    file: "lmdb",
    ours: false,
    ranks: true,
    build: |path, keys| {
        let env = environment(path, false)?;
        let mut write = env.write_txn().map_err(failed("build", "lmdb"))?;
        let base: Ranks = env.create_database(&mut write, None).map_err(failed("build", "lmdb"))?;
        for (key, rank) in keys.iter().zip(0..) {
            base.put_with_flags(&mut write, heed::PutFlags::APPEND, key.as_bytes(), &rank)
                .map_err(failed("build", "lmdb"))?;
        }
        write.commit().map_err(failed("build", "lmdb"))
    },
    open: |path| {
        let env = environment(path, true)?;
        let read = env.clone().static_read_txn().map_err(failed("read", "lmdb"))?;
        let base = env.open_database(&read, None).map_err(failed("read", "lmdb"))?;
        let base = base.ok_or_else(|| Error::new("the file of `lmdb` has no database in it"))?;
        Ok(Box::new(Lmdb { base, read }))
    },
};

type Ranks = heed::Database<Bytes, U64<heed::byteorder::LittleEndian>>;

fn environment(path: &Path, only_read: bool) -> Result<heed::Env<heed::WithoutTls>> {
    let mut flags = heed::EnvFlags::NO_SUB_DIR | heed::EnvFlags::NO_LOCK;
    if only_read {
        flags |= heed::EnvFlags::READ_ONLY;
    }
    let mut options = heed::EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(1 << 30);
    // SAFETY: the file is scratch of this comparison: one process builds it, and later ones only read it, so that it
    // needs no locks and is never changed while it is mapped.
    unsafe { options.flags(flags).open(path) }.map_err(failed("open", "lmdb"))
}

struct Lmdb {
    base: Ranks,
    read: heed::RoTxn<'static, heed::WithoutTls>,
}

impl Dictionary for Lmdb {
    fn get(&self, key: &str) -> Option<u64> {
        self.base.get(&self.read, key.as_bytes()).ok().flatten()
    }
}

/// An archived hash map, mapped and believed without a look at it: checking it takes longer than anything here.
pub(super) static RKYV: Structure = Structure {
    name: "rkyv-hash",
    file: "rkyv-hash",
    ours: false,
    ranks: true,
    build: |path, keys| {
        let map: std::collections::HashMap<String, u64> = keys.iter().cloned().zip(0..).collect();
        let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(&map).map_err(failed("build", "rkyv-hash"))?;
        fs::write(path, bytes).map_err(failed("write", "rkyv-hash"))
    },
    open: |path| Ok(Box::new(Rkyv(map(path, "rkyv-hash")?))),
};

struct Rkyv(Mmap);

type ArchivedMap = rkyv::Archived<std::collections::HashMap<String, u64>>;

impl Dictionary for Rkyv {
    #[inline]
    fn get(&self, key: &str) -> Option<u64> {
        // SAFETY: this comparison wrote the file from a map of this very type, and a mapped file starts at a page.
        let map = unsafe { rkyv::access_unchecked::<ArchivedMap>(&self.0) };
        map.get(key).map(|rank| rank.to_native())
    }
}

/// All keys one behind the other, and where each ends; found by bisection.
pub(super) static SORTED: Structure = Structure {
    name: "sorted",
    file: "sorted",
    ours: false,
    ranks: true,
    build: |path, keys| {
        let mut bytes = (keys.len() as u32).to_le_bytes().to_vec();
        let mut end = 0_u32;
        for key in keys {
            end += key.len() as u32;
            bytes.extend(end.to_le_bytes());
        }
        keys.iter().for_each(|key| bytes.extend_from_slice(key.as_bytes()));
        fs::write(path, bytes).map_err(failed("write", "sorted"))
    },
    open: |path| Ok(Box::new(Sorted(map(path, "sorted")?))),
};

struct Sorted(Mmap);

impl Sorted {
    fn number(&self, index: usize) -> usize {
        let at = 4 * index;
        self.0[at..at + 4].first_chunk().map_or(0, |four| u32::from_le_bytes(*four) as usize)
    }

    fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.number(index) };
        let keys = 4 * (self.number(0) + 1);
        &self.0[keys + start..keys + self.number(index + 1)]
    }
}

impl Dictionary for Sorted {
    fn get(&self, key: &str) -> Option<u64> {
        let (mut low, mut high) = (0, self.number(0));
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.key(middle).cmp(key.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle as u64),
            }
        }
        None
    }
}
