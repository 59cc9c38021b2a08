//! Answers about texts of the sizes at which more is stored beside the tree, against the plainest search there is.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/words.rs"]
mod words;

use std::borrow::Borrow;

use engine::suffix::Layout;
use engine::symbol::Symbol;
use engine::{SuffixIndex, Verify};
use words::{positions, sorted, spell};

/// Texts of `words` words each, asked for parts of them and for parts with one other symbol, in every layout.
fn check_large<K: Symbol + std::fmt::Debug>(words: u32, pair: [K; 2], letter: impl Fn(u8) -> K) {
    let mix = |i: u32| i.wrapping_mul(2_654_435_761) >> 16;
    // A few words are frequent, so that strings of every length are above a bucket; zeros are letters like others.
    let word = |i: u32| format!("{}\0", 1 << (mix(i) % 40).min(mix(i + 7) % 40).min(31));
    let spelled = |text: String| text.bytes().map(&letter).collect::<Vec<K>>();
    let text = |from: u32| spelled((from..from + words).map(word).collect());
    // No part of it is there twice.
    let unlike = (0..words).map(|i| pair[(mix(i) ^ mix(i / 7)) as usize & 1]).collect();
    let texts = [text(0), text(words), spelled("1024\0".repeat(words as usize / 3)), unlike, text(2 * words)];
    let keys: Vec<K::Owned> = texts.iter().map(|text| spell(text)).collect();
    let index = SuffixIndex::<K>::from_texts(keys.iter().map(Borrow::borrow)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let opened = [Layout::Fast, Layout::Compact].map(|layout| {
        let path = folder.path().join(format!("{layout:?}"));
        index.checkpoint(&path, layout).unwrap();
        SuffixIndex::<K>::open(&path, Verify::Structural).unwrap()
    });
    let (mut hits, mut near) = (0, 0);
    for i in 0..900 {
        let text = &texts[i as usize % texts.len()];
        // Up to the last symbol of a text.
        let (len, back) = (1 + i as usize % 24, mix(i) as usize % (text.len() - 24));
        let start = if i % 10 == 0 { text.len() - len } else { back };
        let mut pattern = text[start..start + len].to_vec();
        if i % 3 == 1 {
            let other = text[mix(i + 3) as usize % text.len()];
            pattern[mix(i + 5) as usize % len] = other;
        }
        let expected = sorted(positions(&texts, &pattern));
        let key = spell(&pattern);
        for index in [&index].into_iter().chain(&opened) {
            assert_eq!(sorted(index.positions(key.borrow())), expected, "{pattern:?}");
            assert_eq!(index.contains(key.borrow()), !expected.is_empty(), "{pattern:?}");
        }
        hits += u32::from(!expected.is_empty());
        near += u32::from(expected.is_empty());
    }
    assert!(hits > 550 && near > 100, "{hits} {near}");
}

/// The greatest string is where the first text starts, and no suffix lies behind those that begin with it.
#[test]
fn the_last_suffixes_are_found_once() {
    for filler in [100, 5_000, 70_000] {
        let text = format!("zzzzzzzzzzzzzzz{}", "abcdefghijk".repeat(filler / 11));
        let index = SuffixIndex::<u8>::from_texts([text.as_bytes()]).unwrap();
        for len in 1..16 {
            let expected: Vec<u32> = (0..=15 - len).collect();
            let found = sorted(index.positions(&text.as_bytes()[..len as usize]));
            assert_eq!(found.iter().map(|it| it.offset).collect::<Vec<_>>(), expected);
        }
    }
}

/// Texts of the sizes at which what is stored beside the tree changes: heads, and ways round the top of the tree.
#[test]
fn patterns_of_large_texts_are_found_and_near_ones_are_not() {
    for words in [200, 700, 2_500, 6_000] {
        check_large::<u8>(words, *b"yz", |byte| byte);
        check_large::<char>(words, ['é', '語'], |byte| char::from(byte).to_ascii_uppercase());
    }
}
