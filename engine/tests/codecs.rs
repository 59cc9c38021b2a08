//! The same dictionary out of every format, and in the formats' own crates.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "support/derived.rs"]
mod derived;
#[path = "support/graphs.rs"]
mod graphs;
#[path = "support/messages.rs"]
mod messages;
#[path = "support/sha256.rs"]
mod sha256;
#[path = "support/terms.rs"]
mod terms;

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "json")]
use derived::Document;
use derived::{File, Terms, legacy};
use engine::codec::{self, Capacity, Decoder, Dictionary, Encoder, Error, Format, Source};
use engine::trie::Verify;
use engine::{CharImage, CharTrie};
use messages::{v1, v2};
use proptest::prelude::*;
use prost::Message;

/// The formats of this build.
fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|&it| it != Format::Json || cfg!(feature = "json"))
}

fn decoded(bytes: &[u8], format: Format) -> Dictionary {
    codec::decode(bytes, format).unwrap_or_else(|error| panic!("{error}"))
}

/// Through every format, with either capacity, by way of memory and of a writer.
fn check<S: Source + ?Sized>(source: &S, expected: &[(String, Option<u64>)]) {
    for format in formats() {
        let bytes = codec::encode(source, format).unwrap();
        let growing = Encoder::new(format).capacity(Capacity::Growing).to_bytes(source).unwrap();
        assert!(bytes == growing, "{format}: capacity changes bytes");
        let mut streamed = Vec::new();
        codec::encode_to(source, format, &mut streamed).unwrap();
        // Pieces of columns end elsewhere in neither; bytes are the same.
        assert!(bytes == streamed, "{format}: a writer gets other bytes");
        assert_eq!(Format::detect(&bytes), Some(format));
        let exact = decoded(&bytes, format);
        let growing: Dictionary = Decoder::new(format).capacity(Capacity::Growing).decode(&bytes).unwrap();
        assert!(exact == growing, "{format}: capacity changes the dictionary");
        assert_eq!(exact.has_values(), source.has_values(), "{format}");
        let entries: Vec<_> =
            exact.terms().enumerate().map(|(at, term)| (term.to_owned(), exact.value(at))).collect();
        assert!(entries == expected, "{format}: other terms");
        // What was decoded is a source like any.
        for other in formats() {
            let again = decoded(&codec::encode(&exact, other).unwrap(), other);
            assert!(again == exact, "{format} to {other}");
        }
    }
}

fn check_set<T: AsRef<str>>(terms: &[T]) {
    let expected: Vec<_> = terms.iter().map(|it| (it.as_ref().to_owned(), None)).collect();
    check(terms, &expected);
}

fn check_map(entries: &BTreeMap<String, u64>) {
    let mut trie = CharTrie::<u64>::new();
    for (term, &value) in entries {
        trie.insert(term, value).unwrap();
    }
    let expected: Vec<_> = entries.iter().map(|(term, &value)| (term.clone(), Some(value))).collect();
    check(&trie, &expected);
}

#[test]
fn small_dictionaries() {
    check_set::<&str>(&[]);
    check_set(&[""]);
    check_set(&["", "a", "ab", "b"]);
    check_set(&["\0", "\0\0", "\u{1}\n\t\"\\/", "é", "日本語", "東京", "\u{10FFFF}"]);
    check_map(&BTreeMap::new());
    check_map(&BTreeMap::from([(String::new(), u64::MAX)]));
    check_map(
        &[("a", 0), ("ab", u64::MAX), ("b", 1 << 53 | 1), ("日", 7)].map(|(k, v)| (k.to_owned(), v)).into(),
    );
}

#[test]
fn the_ledgers_terms() {
    let terms = terms::ledger_terms(30_000);
    check_set(&terms);
    check_map(&terms.into_iter().zip(0..).collect());
}

/// Lengths at which nested formats fail: one JSON object or one message a letter.
#[test]
fn long_terms() {
    for len in [1, 42, 43, 100, 101, 5_000, 70_000] {
        let long = "x".repeat(len);
        let longer = format!("{long}y");
        check_set(&[&long, &longer]);
    }
}

/// What is decoded into a trie is in the trie.
#[test]
fn a_trie_is_a_sink_and_a_source() {
    let entries: BTreeMap<String, u64> = terms::ledger_terms(1_000).into_iter().zip(5..).collect();
    let mut trie = CharTrie::<u64>::new();
    for (term, &value) in &entries {
        trie.insert(term, value).unwrap();
    }
    for format in formats() {
        let again: CharTrie<u64> = codec::decode(&codec::encode(&trie, format).unwrap(), format).unwrap();
        assert_eq!(again.len(), 1_000);
        assert!(entries.iter().all(|(term, &value)| again.get(term).unwrap() == Some(value)));
    }
}

#[test]
fn an_image_opens_in_place() {
    let bytes = codec::encode(&["京都", "東京"][..], Format::Image).unwrap();
    let image = CharImage::<()>::from_bytes(bytes, Verify::Structural).unwrap();
    assert!(image.contains("東京").unwrap() && !image.contains("東").unwrap());
}

#[test]
fn sources_out_of_order_are_refused() {
    for format in formats() {
        for terms in [["b", "a"], ["a", "a"], ["ab", "a"], ["a", ""]] {
            let refused = codec::encode(&terms[..], format).unwrap_err();
            assert!(matches!(&refused, Error::Order { index: 1, .. }), "{format}: {refused}");
        }
    }
}

fn the_crc(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

#[test]
fn bincode_reads_and_writes_the_same() {
    let terms = terms::ledger_terms(1_000);
    for valued in [false, true] {
        let pairs: Vec<(String, u64)> = terms.iter().cloned().zip(9..).collect();
        let mut trie = CharTrie::<u64>::new();
        for (term, value) in &pairs {
            trie.insert(term, *value).unwrap();
        }
        let ours = if valued {
            codec::encode(&trie, Format::Bincode)
        } else {
            codec::encode(&terms[..], Format::Bincode)
        };
        let ours = ours.unwrap();
        let terms = if valued { Terms::Map(pairs) } else { Terms::Set(terms.clone()) };
        let crc32 = the_crc(&ours[..ours.len() - 4]);
        let file = File { magic: *b"dicb", version: 1, terms, crc32 };
        let (theirs, read): (File, usize) = bincode::decode_from_slice(&ours, legacy()).unwrap();
        assert!(theirs == file && read == ours.len());
        assert!(bincode::encode_to_vec(&file, legacy()).unwrap() == ours);
    }
}

#[cfg(feature = "json")]
#[test]
fn serde_json_reads_and_writes_the_same() {
    let document = Document { version: 1, terms: ["", "a\"\n", "日"].map(str::to_owned).to_vec() };
    let ours = codec::encode(&document.terms[..], Format::Json).unwrap();
    assert_eq!(String::from_utf8(ours.clone()).unwrap(), serde_json::to_string(&document).unwrap());
    assert_eq!(serde_json::from_slice::<Document>(&ours).unwrap(), document);
    let loose = br#" { "terms" : { "a" : 1 , "\u65e5" : 18446744073709551615 } , "version" : 1 } "#;
    let dictionary = decoded(loose, Format::Json);
    assert!(dictionary.terms().eq(["a", "日"]) && dictionary.value(1) == Some(u64::MAX));
}

/// A generated encoder writes all nodes, then all edges, and no checksum; another program numbers nodes as it likes
/// and has its edges in any order.
#[test]
fn prost_reads_and_writes_the_same() {
    let entries: BTreeMap<String, u64> = terms::ledger_terms(1_000).into_iter().zip(3..).collect();
    let mut trie = CharTrie::<u64>::new();
    for (term, &value) in &entries {
        trie.insert(term, value).unwrap();
    }
    let expected = decoded(&codec::encode(&trie, Format::Bincode).unwrap(), Format::Bincode);

    let ours = codec::encode(&trie, Format::ProtobufV1).unwrap();
    let mut message = v1::Dictionary::decode(&ours[..]).unwrap();
    let tail = message.tail.as_mut().unwrap();
    assert_eq!((tail.node_count, tail.term_count), (message.nodes.len() as u64, 1_000));
    assert_eq!(tail.crc32.take(), Some(the_crc(&ours[..ours.len() - 34])));
    assert!(decoded(&message.encode_to_vec(), Format::ProtobufV1) == expected);
    let other = |id: u64| id.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for node in &mut message.nodes {
        node.id = other(node.id);
    }
    for edge in &mut message.edges {
        (edge.source_id, edge.target_id) = (other(edge.source_id), other(edge.target_id));
    }
    message.edges.reverse();
    message.nodes.rotate_left(17);
    assert!(decoded(&message.encode_to_vec(), Format::ProtobufV1) == expected);

    let ours = codec::encode(&trie, Format::ProtobufV2).unwrap();
    let mut message = v2::Dictionary::decode(&ours[..]).unwrap();
    let tail = message.tail.as_mut().unwrap();
    assert_eq!((message.heads.len(), message.values.len()), (message.backs.len() + 1, 1_000));
    assert_eq!(tail.crc32.take(), Some(the_crc(&ours[..ours.len() - 34])));
    assert!(decoded(&message.encode_to_vec(), Format::ProtobufV2) == expected);
}

/// A program with derived types that walks the graphs itself.
#[test]
fn others_make_and_walk_the_graphs() {
    let terms = ["", "a", "ab", "b", "日本"].map(str::to_owned);
    for (format, theirs) in [
        (Format::ProtobufV1, graphs::v1_of(&terms).encode_to_vec()),
        (Format::ProtobufV2, graphs::v2_of(&terms).encode_to_vec()),
    ] {
        assert!(decoded(&theirs, format).terms().eq(terms.iter()), "{format}");
    }
    let ours = |format| codec::encode(&terms[..], format).unwrap();
    let message = v1::Dictionary::decode(&ours(Format::ProtobufV1)[..]).unwrap();
    assert_eq!(graphs::terms_of_v1(&message), terms);
    let message = v2::Dictionary::decode(&ours(Format::ProtobufV2)[..]).unwrap();
    assert_eq!(graphs::terms_of_v2(&message), terms);
}

/// Bytes are what others have stored: they may only change together with a version.
#[test]
fn bytes_are_frozen() {
    let terms = ["", "a", "ab", "b", "日"];
    for (format, digest) in [
        (Format::Bincode, "0d6a117890fb0208f78131fff412256edb3ebda7e7cc4e596ced77df716340f3"),
        (Format::ProtobufV1, "80e9a7add91271b2e688a85f543293ddaa7dce077432c7a9f786e904585ea790"),
        (Format::ProtobufV2, "9906abf4dcf89e4263987289c3661f0b505bae6fb7884bbecb0e9252c1032fa9"),
        (Format::Image, "30a3b23b0f4e7eb1354609f7255c4719356d8194876f2415b3a9d04cdec1bc51"),
    ] {
        let bytes = codec::encode(&terms[..], format).unwrap();
        assert_eq!(sha256::sha256_hex(&bytes), digest, "{format}");
    }
}

proptest! {
    #[test]
    fn any_set(terms in prop::collection::btree_set(".{0,8}", 0..40)) {
        let terms: BTreeSet<String> = terms;
        check_set(&terms.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn any_map(entries in prop::collection::btree_map("[ab日\"]{0,6}", any::<u64>(), 0..40)) {
        check_map(&entries);
    }

    /// Any bytes give a dictionary or an error, with any beginning that is expected.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..80), start in 0_usize..12) {
        for format in formats() {
            let sound = codec::encode(&["a", "ab"][..], format).unwrap();
            let bytes = [&sound[..start.min(sound.len())], &bytes].concat();
            drop(codec::decode::<Dictionary>(&bytes, format));
        }
    }
}
