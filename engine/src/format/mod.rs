#![doc = include_str!("../../FORMAT.md")]

mod checksum;
mod fault;
mod header;
mod map;
mod replace;
mod section;
mod storage;

pub use fault::FaultStorage;
pub use header::{HEADER_LEN, MAGIC, NEWEST_VERSION};
pub use storage::{Disk, Storage, StorageFile};

pub(crate) use checksum::{PAGE_LEN, PageGrid, Pages, crc32};
pub(crate) use header::{Header, KIND_SUFFIX, KIND_TRIE};
pub(crate) use map::{Bytes, Head};
pub(crate) use replace::{Replacement, Target, publish};
pub(crate) use section::{ENTRY_LEN, Section, SectionId, Table};
