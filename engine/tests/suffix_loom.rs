//! All orders in which a writer can publish and readers can read. For `RUSTFLAGS="--cfg loom" cargo test -p engine
//! --release --test suffix_loom`.
#![cfg(loom)]

use engine::SuffixIndex;
use loom::sync::Arc;
use loom::thread;

/// Snapshots have both pushes of a writer in their order, or fewer, whole.
#[test]
fn readers_see_a_prefix_of_what_was_published() {
    loom::model(|| {
        let index = Arc::new(SuffixIndex::<u8>::new());
        let writer = Arc::clone(&index);
        let writer = thread::spawn(move || {
            writer.push(b"ab").unwrap();
            writer.push(b"abc").unwrap();
        });
        let mut reader = index.reader();
        let mut before = 0;
        for _ in 0..2 {
            let snapshot = reader.snapshot();
            assert!(snapshot.texts() >= before);
            before = snapshot.texts();
            assert_eq!(snapshot.count(b"ab"), u64::from(before));
            assert_eq!(snapshot.count(b"abc"), u64::from(before == 2));
        }
        writer.join().unwrap();
        assert_eq!(index.count(b"ab"), 2);
    });
}

/// No push of two writers gets lost, and each gets a number of its own.
#[test]
fn writers_lose_nothing() {
    loom::model(|| {
        let index = Arc::new(SuffixIndex::<u8>::new());
        let other = Arc::clone(&index);
        let writer = thread::spawn(move || other.push(b"x").unwrap());
        let mine = index.push(b"y").unwrap();
        let theirs = writer.join().unwrap();
        assert_eq!(mine + theirs, 1);
        assert_eq!(index.snapshot().text(mine).unwrap(), b"y");
        assert_eq!(index.count(b"x"), 1);
    });
}
