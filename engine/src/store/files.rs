//! The files of a store's directory, by name.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

pub(super) const MANIFEST: &str = "MANIFEST";
pub(super) const LOCK: &str = "LOCK";

/// What a numbered file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Records.
    Segment,
    /// All keys.
    Base,
    /// Keys that came or changed after the base.
    Delta,
    /// Keys of the base that were removed.
    Gone,
}

const ROLES: [(Role, &str, &str); 4] = [
    (Role::Segment, "log-", ".wal"),
    (Role::Base, "base-", ".trie"),
    (Role::Delta, "delta-", ".trie"),
    (Role::Gone, "gone-", ".trie"),
];

pub(super) fn path(directory: &Path, role: Role, number: u64) -> PathBuf {
    let (_, prefix, suffix) = ROLES[role as usize];
    directory.join(format!("{prefix}{number}{suffix}"))
}

/// What is in the directory.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Numbered files in the order of their numbers.
    pub(super) numbered: Vec<(Role, u64)>,
    /// What a crash left of files that were being written.
    pub(super) temporary: Vec<PathBuf>,
}

impl Listing {
    pub(super) fn read(directory: &Path) -> Result<Self> {
        let fail = |source| Error::io("list", directory, source);
        let mut listing = Self::default();
        for entry in fs::read_dir(directory).map_err(fail)? {
            let name = entry.map_err(fail)?.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.starts_with('.') && name.ends_with(".tmp") {
                listing.temporary.push(directory.join(name));
            } else if let Some(file) = parse(name) {
                listing.numbered.push(file);
            }
        }
        listing.numbered.sort_unstable();
        listing.temporary.sort_unstable();
        Ok(listing)
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = u64> {
        self.numbered.iter().filter(|(role, _)| *role == Role::Segment).map(|&(_, number)| number)
    }
}

fn parse(name: &str) -> Option<(Role, u64)> {
    ROLES.iter().find_map(|&(role, prefix, suffix)| {
        let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
        let number = digits.parse().ok()?;
        // Only names that this module gives.
        (path(Path::new(""), role, number) == Path::new(name)).then_some((role, number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_as_they_are_given_and_no_others_are() {
        for (role, ..) in ROLES {
            let name = path(Path::new(""), role, 70);
            assert_eq!(parse(name.to_str().unwrap()), Some((role, 70)));
        }
        for other in
            ["log-.wal", "log-07.wal", "log-+7.wal", "log-7.trie", "base-7", "MANIFEST", "xlog-7.wal"]
        {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
