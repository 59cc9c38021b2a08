//! A checkpoint that fails anywhere leaves the old file readable and whole.

#[path = "support/terms.rs"]
mod terms;

use engine::format::{Disk, FaultStorage};
use engine::{CharTrie, Error, LoadStrategy};

#[test]
fn a_failed_checkpoint_leaves_the_old_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let mut trie = CharTrie::<u64>::new();
    trie.insert("old", 1).unwrap();
    trie.checkpoint(&path).unwrap();
    let old = std::fs::read(&path).unwrap();
    // Several writes: a megabyte each.
    for (term, value) in terms::ledger_terms(150_000).iter().zip(0..) {
        trie.insert(term, value).unwrap();
    }
    let reader = CharTrie::<u64>::open(&path, LoadStrategy::Lazy).unwrap();
    let mut attempts = Vec::new();
    for fuse in 0.. {
        let storage = FaultStorage::new(Disk, fuse);
        match trie.checkpoint_to(&storage, &path) {
            Ok(()) => {
                assert_eq!(storage.left(), 0, "every mutation failed once");
                break;
            }
            Err(Error::Io { attempt, source, .. }) => {
                assert_eq!(source.to_string(), "injected fault");
                attempts.push(attempt);
                if attempt == "sync the directory" {
                    // The new file has its name already; only its durability is open.
                    assert_eq!(CharTrie::<u64>::open(&path, LoadStrategy::Eager).unwrap().len(), trie.len());
                } else {
                    assert_eq!(std::fs::read(&path).unwrap(), old);
                    let opened = CharTrie::<u64>::open(&path, LoadStrategy::Eager).unwrap();
                    assert_eq!((opened.len(), opened.get("old").unwrap()), (1, Some(1)));
                }
            }
            Err(other) => panic!("{other}"),
        }
    }
    attempts.dedup();
    assert_eq!(attempts, ["create", "write", "sync", "replace", "sync the directory"]);
    // Who had the old image open still reads it.
    assert_eq!(reader.get("old").unwrap(), Some(1));
    assert_eq!(reader.get("term00000").unwrap(), None);
    let opened = CharTrie::<u64>::open(&path, LoadStrategy::Lazy).unwrap();
    assert_eq!(opened.len(), trie.len());
    assert!(opened.iter().map(Result::unwrap).eq(trie.iter().map(Result::unwrap)));
}

#[test]
fn a_failed_checkpoint_removes_its_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("a.trie");
    std::fs::create_dir(&directory).unwrap();
    let refused = CharTrie::<u64>::new().checkpoint(&directory);
    assert!(matches!(refused, Err(Error::Io { attempt: "replace", .. })), "{refused:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
