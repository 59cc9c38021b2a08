//! Readers of a growing index always see whole texts, every one that was there before, and nothing else.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::suffix::Layout;
use engine::{SuffixIndex, Verify};

/// A text that only its number has: `count` times the same word.
fn text(number: u32) -> String {
    format!("<{number}é>").repeat(1 + number as usize % 5)
}

/// What is in a snapshot of `texts` texts, by the plainest search.
fn expected(texts: u32, pattern: &str) -> u64 {
    (0..texts).map(|number| text(number).matches(pattern).count() as u64).sum()
}

#[test]
fn readers_see_whole_texts_while_one_thread_adds() {
    const TEXTS: u32 = 1_500;
    let index = SuffixIndex::<char>::new();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let (mut reader, mut before, mut states) = (index.reader(), 0, 0);
                    while !done.load(Ordering::Acquire) || states < 3 {
                        let snapshot = reader.snapshot();
                        let texts = snapshot.texts();
                        assert!(texts >= before, "texts went away");
                        states += u32::from(texts > before || texts == TEXTS);
                        before = texts;
                        if let Some(last) = texts.checked_sub(1) {
                            assert_eq!(snapshot.text(last).unwrap(), text(last));
                            let pattern = format!("<{last}é");
                            let all = 1 + u64::from(last) % 5;
                            assert_eq!(snapshot.count(&pattern), all, "{pattern} of {texts}");
                            assert!(snapshot.positions(&pattern).iter().all(|at| at.document == last));
                            assert_eq!(snapshot.count(&format!("<{texts}é")), 0);
                        }
                        if states % 50 == 1 {
                            assert_eq!(snapshot.count("7é>"), expected(texts, "7é>"));
                        }
                    }
                    states
                })
            })
            .collect();
        for number in 0..TEXTS {
            assert_eq!(index.push(&text(number)).unwrap(), number);
        }
        done.store(true, Ordering::Release);
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() >= 3));
    });
    assert_eq!(index.count("7é>"), expected(TEXTS, "7é>"));
}

#[test]
fn writers_take_turns() {
    let index = SuffixIndex::<u8>::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let index = &index;
            scope.spawn(move || {
                for round in 0..200 {
                    let text = format!("[{writer}:{round}]");
                    let number = index.push(text.as_bytes()).unwrap();
                    assert_eq!(index.snapshot().text(number).unwrap(), text.as_bytes());
                }
            });
        }
    });
    assert_eq!(index.texts(), 800);
    for writer in 0..4 {
        assert_eq!(index.count(format!("[{writer}:").as_bytes()), 200);
    }
}

#[test]
fn a_snapshot_outlives_what_comes_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let index = SuffixIndex::<u8>::from_texts([&b"abc"[..]]).unwrap();
    index.checkpoint(&path, Layout::Fast).unwrap();
    let index = SuffixIndex::<u8>::open(&path, Verify::Header).unwrap();
    let old = index.snapshot();
    index.push(b"abcabc").unwrap();
    index.checkpoint(&path, Layout::Fast).unwrap();
    index.merge().unwrap();
    drop(index);
    // The file that it reads was replaced.
    assert_eq!((old.texts(), old.count(b"bc")), (1, 1));
    assert_eq!(SuffixIndex::<u8>::open(&path, Verify::Full).unwrap().count(b"bc"), 3);
}
