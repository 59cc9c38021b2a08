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

/// Texts with more nodes than there is room for, and others that are known for being hard.
fn hard_texts(len: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mix = |i: usize| {
        (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    };
    let random =
        |letters: u64| (0..len).map(|i| ((mix(i) >> 33) % letters) as u8 + b'A').collect::<Vec<u8>>();
    let repeated = |part: &[u8]| part.iter().copied().cycle().take(len).collect::<Vec<u8>>();
    let (mut before, mut fibonacci) = (b"b".to_vec(), b"a".to_vec());
    while fibonacci.len() < len {
        (before, fibonacci) = (fibonacci.clone(), [fibonacci, before].concat());
    }
    fibonacci.truncate(len);
    vec![
        ("one letter", repeated(b"a")),
        ("short period", repeated(b"abracadabra")),
        ("long period", repeated(&random(26)[..len / 200])),
        ("Fibonacci", fibonacci),
        ("two letters", random(2)),
        ("four letters", random(4)),
        ("letters", random(26)),
        ("bytes", (0..len).map(|i| (mix(i) >> 40) as u8).collect()),
    ]
}

#[test]
fn an_index_of_any_text_is_small() {
    for (name, text) in hard_texts(1 << 18) {
        let index = SuffixIndex::<u8>::from_texts([&text[..]]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("compact");
        index.checkpoint(&path, Layout::Compact).unwrap();
        let compact = std::fs::metadata(&path).unwrap().len() as f64 / text.len() as f64;
        let fast = index.snapshot().index_len() as f64 / text.len() as f64;
        assert!(fast < 10.0 && compact < 5.5, "{name}: {fast:.2} and {compact:.2} bytes a byte");
    }
}

/// Where the tree does not have all its nodes, what lies below its last level is found as well.
#[test]
fn patterns_below_the_last_level_are_found() {
    for (name, text) in hard_texts(1 << 17) {
        let index = SuffixIndex::<u8>::from_texts([&text[..]]).unwrap();
        let snapshot = index.snapshot();
        for (i, len) in
            [1, 2, 3, 5, 9, 40, 300, 4_000, 4_094, 4_095, 4_096, 4_097, 9_000].into_iter().enumerate()
        {
            let start = (i * 7_919) % (text.len() - len);
            let mut pattern = text[start..start + len].to_vec();
            let all = (0..=text.len() - len).filter(|&at| text[at..].starts_with(&pattern)).count();
            assert_eq!(snapshot.count(&pattern), all as u64, "{name}: {len} bytes from {start}");
            assert_eq!(snapshot.contains(&pattern), all > 0, "{name}: {len} bytes from {start}");
            pattern.push(b'~');
            assert_eq!(snapshot.count(&pattern), 0, "{name}: {len} bytes and one more");
        }
        // A part of the text between others; what follows it in the text does not follow it here.
        for len in [10, 500, 6_000] {
            let part = &text[1_000..1_000 + len];
            let query = [b"~", part, b"~", &part[1..], b"~", &part[..len - 1]].concat();
            let found = snapshot.longest_common_substring(&query);
            assert_eq!(&query[found], part, "{name}: {len} bytes");
        }
    }
}

/// A match that loses its first symbol below the last level goes on with what begins with the rest, and with nothing else.
#[test]
fn a_long_match_that_is_shortened_goes_on_rightly() {
    let shared: Vec<u8> = hard_texts(5_000).swap_remove(6).1;
    let longer = [b"y", &shared[..]].concat();
    let other = [&shared[..4_500], &[b'}'; 500], b"~~"].concat();
    let texts = [longer.as_slice(), &other].repeat(150);
    let index = SuffixIndex::<u8>::from_texts(texts).unwrap();
    let query = [&longer[..], b"~~"].concat();
    assert_eq!(index.snapshot().longest_common_substring(&query), 0..longer.len());
}

/// Texts without bytes are put away like others: what has to be copied for each does not grow with their number.
#[test]
fn many_empty_texts_become_few_segments() {
    let index = SuffixIndex::<char>::new();
    for number in 0..20_000 {
        assert_eq!(index.push(if number % 1_000 == 0 { "é" } else { "" }).unwrap(), number);
    }
    let told = format!("{index:?}");
    let segments: usize =
        told.split("segments: ").nth(1).unwrap().split([' ', '}']).next().unwrap().parse().unwrap();
    assert!((1..=12).contains(&segments), "{told}");
    let numbers: Vec<u32> = sorted(index.positions("é")).iter().map(|it| it.document).collect();
    assert_eq!(numbers, (0..20).map(|i| i * 1_000).collect::<Vec<_>>());
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
