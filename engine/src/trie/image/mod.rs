//! Images of tries: the bytes of a file, and the nodes in them.

mod file;
mod layout;
mod read;
mod write;

pub(super) use read::Image;
pub(super) use write::Entries;
