//! Case 27: files that are no tries, and tries of another type.

#[path = "support/sha256.rs"]
mod sha256;

use std::path::Path;

use engine::symbol::Symbol;
use engine::trie::{Backing, Verify};
use engine::{ByteTrie, CharTrie, Error, LoadStrategy, OpenOptions, Trie};
use serde_json::Value;

fn all_options() -> Vec<OpenOptions> {
    let mut all = Vec::new();
    for strategy in [LoadStrategy::Eager, LoadStrategy::Lazy] {
        for verify in [Verify::Header, Verify::Full] {
            for backing in [Backing::Map, Backing::Copy] {
                all.push(OpenOptions::new().strategy(strategy).verify(verify).backing(backing));
            }
        }
    }
    all
}

fn refusal<K: Symbol>(path: &Path, options: OpenOptions) -> String {
    match Trie::<K, u64>::open(path, options) {
        Ok(_) => panic!("opened {}", path.display()),
        Err(refused) => refused.to_string(),
    }
}

#[test]
fn files_that_are_no_tries_are_refused_and_left_alone() {
    let source = Path::new("tests/cases/27_wrong_files");
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(source.join("expected.json")).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, digest) in expected["sha256_before"].as_object().unwrap() {
        let path = folder.path().join(name);
        std::fs::copy(source.join(name), &path).unwrap();
        let before = path.metadata().unwrap().modified().unwrap();
        for options in all_options() {
            for message in [refusal::<u8>(&path, options), refusal::<char>(&path, options)] {
                assert!(message.contains(name) && message.contains("not an image"), "{message}");
            }
        }
        assert_eq!(sha256::sha256_hex(&std::fs::read(&path).unwrap()), digest.as_str().unwrap());
        assert_eq!(path.metadata().unwrap().modified().unwrap(), before);
    }
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, expected["sha256_before"].as_object().unwrap().len());
}

#[test]
fn directories_devices_and_missing_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for options in all_options() {
        let message = refusal::<u8>(folder.path(), options);
        assert!(message.contains("it is a directory"), "{message}");
        let message = refusal::<u8>(&folder.path().join("none"), options);
        assert!(message.starts_with("failed to open `") && message.ends_with("none`"), "{message}");
    }
    #[cfg(unix)]
    assert!(refusal::<u8>(Path::new("/dev/zero"), OpenOptions::new()).contains("not a regular file"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
#[cfg(unix)]
fn unreadable_files_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    drop(ByteTrie::<u64>::create(&path).unwrap());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything.
    if std::fs::read(&path).is_err() {
        let refused = ByteTrie::<u64>::open(&path, LoadStrategy::Lazy).map(|trie| trie.len());
        assert!(matches!(refused, Err(Error::Io { attempt: "open", .. })), "{refused:?}");
    }
}

#[test]
fn tries_of_another_type_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let mut bytes = ByteTrie::<u64>::new();
    bytes.insert(b"a", 1).unwrap();
    bytes.checkpoint(&path).unwrap();
    for options in all_options() {
        let message = refusal::<char>(&path, options);
        assert!(message.contains("over `chars`") && message.contains("are `bytes`"), "{message}");
        let width = ByteTrie::<u32>::open(&path, options).map(|trie| trie.len());
        assert!(matches!(width, Err(Error::ValueWidth { found: 8, wanted: 4, .. })), "{width:?}");
        let set = ByteTrie::<()>::open(&path, options).map(|trie| trie.len());
        assert!(matches!(set, Err(Error::ValueWidth { found: 8, wanted: 0, .. })), "{set:?}");
    }
    CharTrie::<u64>::new().checkpoint(&path).unwrap();
    assert!(refusal::<u8>(&path, OpenOptions::new()).contains("are `chars`"));
}

#[test]
fn creating_never_replaces_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    std::fs::write(&path, "notes").unwrap();
    let refused = ByteTrie::<u64>::create(&path).map(|trie| trie.len());
    assert!(matches!(refused, Err(Error::Io { attempt: "create", .. })), "{refused:?}");
    assert_eq!(std::fs::read(&path).unwrap(), b"notes");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
