//! Images of tries: the bytes of a file, and the nodes in them.

mod build;
mod directory;
mod file;
mod find;
mod group;
mod layout;
mod near;
mod nodes;
mod output;
mod packed;
mod point;
mod read;
mod run;
mod walk;

pub(super) use file::{FileBuilder, Recipe};
pub(super) use layout::VARIABLE;
pub(super) use nodes::{Damage, Hit};
pub(super) use output::{Finished, Output};
pub(super) use read::ImageFile;
pub(super) use walk::Walker;
