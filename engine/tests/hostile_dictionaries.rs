//! Bytes that are no dictionary, or a cut, damaged or hostile one: an error that names a byte, little memory, and soon.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "support/counting.rs"]
mod counting;
#[path = "support/messages.rs"]
mod messages;

use std::time::{Duration, Instant};

use counting::peak_of;
use engine::CharTrie;
use engine::codec::{self, Capacity, Decoder, Dictionary, Error, Format};
use messages::{Tail, v1, v2};
use prost::Message;

const MOST_MEMORY: usize = 64 << 20;
const MOST_TIME: Duration = Duration::from_secs(1);

/// The formats of this build.
fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|&it| it != Format::Json || cfg!(feature = "json"))
}

/// Decodes within the limits.
fn attempt(bytes: &[u8], format: Format) -> codec::Result<Dictionary> {
    let mut results = [Capacity::Exact, Capacity::Growing].map(|capacity| {
        let started = Instant::now();
        let decoder = Decoder::new(format).capacity(capacity);
        let (result, peak) = peak_of(|| decoder.decode::<Dictionary>(bytes));
        assert!(started.elapsed() < MOST_TIME, "{format}: {:?}", started.elapsed());
        assert!(peak < MOST_MEMORY, "{format}: {peak} bytes");
        Some(result)
    });
    let [exact, growing] = &mut results;
    let (exact, growing) = (exact.take().unwrap(), growing.take().unwrap());
    assert_eq!(exact.is_ok(), growing.is_ok(), "{format}");
    exact
}

/// Refused, at a byte that is there, or just behind the last.
#[track_caller]
fn refuse(bytes: &[u8], format: Format, what: &str) -> String {
    match attempt(bytes, format) {
        Ok(found) => panic!("{format}, {what}: decoded {} terms", found.len()),
        Err(error) => {
            if let Error::Malformed { offset, .. }
            | Error::Version { offset, .. }
            | Error::Limit { offset, .. } = &error
            {
                assert!(*offset <= bytes.len() as u64, "{format}, {what}: {error}");
                let message = error.to_string();
                assert!(message.contains(&format!("at byte {offset}")), "{message}");
                return message;
            }
            panic!("{format}, {what}: {error:?} names no byte");
        }
    }
}

/// Dictionaries whose bytes are cut and changed: with values and without.
fn sound(format: Format) -> [Vec<u8>; 2] {
    let terms = ["", "alpha", "alphabet", "beta", "日本"];
    let mut trie = CharTrie::<u64>::new();
    for (term, value) in terms.iter().zip([0, 300, u64::MAX, 1, 70_000]) {
        trie.insert(term, value).unwrap();
    }
    [codec::encode(&terms[..], format).unwrap(), codec::encode(&trie, format).unwrap()]
}

#[test]
fn every_cut_is_refused() {
    for format in formats() {
        for bytes in sound(format) {
            for len in 0..bytes.len() {
                refuse(&bytes[..len], format, &format!("cut at {len}"));
            }
        }
    }
}

#[test]
fn bytes_behind_the_end_are_refused() {
    for format in formats() {
        for bytes in sound(format) {
            for tail in [&b"\0"[..], b"x", b"TRAILING", &bytes] {
                refuse(&[&bytes, tail].concat(), format, "more behind");
            }
        }
    }
}

/// JSON has no checksum, so there a changed letter is another term; what no decoder may do is fail otherwise.
#[test]
fn flipped_bits() {
    for format in formats() {
        for bytes in sound(format) {
            let whole: Dictionary = codec::decode(&bytes, format).unwrap();
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                match attempt(&flipped, format) {
                    // A bit that says nothing, such as the sequence number of an image.
                    Ok(found) => assert!(found == whole || format == Format::Json, "{format}, bit {bit}"),
                    Err(_) => drop(refuse(&flipped, format, "a flipped bit")),
                }
            }
        }
    }
}

/// Every number of eight bytes, and every byte, is replaced by what breaks lengths.
#[test]
fn lengths_that_are_lies() {
    for format in formats() {
        for bytes in sound(format) {
            for at in 0..bytes.len() {
                for number in [1 << 20, 1 << 31, 1 << 32, 1 << 40, 1 << 63, u64::MAX, u64::MAX - 7] {
                    let mut lie = bytes.clone();
                    let end = (at + 8).min(bytes.len());
                    lie[at..end].copy_from_slice(&u64::to_le_bytes(number)[..end - at]);
                    drop(attempt(&lie, format));
                }
                // A length of ten bytes in place of one.
                let long = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01];
                let lie = [&bytes[..at], &long, &bytes[at + 1..]].concat();
                drop(attempt(&lie, format));
            }
        }
    }
}

#[test]
fn other_versions() {
    let mut bytes = sound(Format::Bincode)[0].clone();
    bytes[4] = 2;
    assert!(
        refuse(&bytes, Format::Bincode, "version 2").contains("its version is `2`, this build reads `1`")
    );
    for (format, other) in
        [(Format::ProtobufV1, Format::ProtobufV2), (Format::ProtobufV2, Format::ProtobufV1)]
    {
        let [bytes, _] = sound(other);
        assert!(refuse(&bytes, format, "the other version").contains("decode it as another format"));
    }
    let mut bytes = sound(Format::Image)[0].clone();
    bytes[8] = 99;
    refuse(&bytes, Format::Image, "version 99");
    if cfg!(feature = "json") {
        refuse(br#"{"version":2,"terms":[]}"#, Format::Json, "version 2");
    }
    for format in formats() {
        for other in formats().filter(|&it| it != format) {
            refuse(&sound(other)[0], format, "another format");
        }
    }
}

fn case(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/cases/29_hostile_bytes/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

/// The head of a set as bincode, the vector of the case, and a checksum that is right.
fn as_bincode(vector: &[u8]) -> Vec<u8> {
    let mut bytes = [&b"dicb\x01\0\0\0\0\0"[..], vector].concat();
    let crc = crc32fast::hash(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

#[test]
fn case_29_bincode() {
    let ok: Dictionary =
        codec::decode(&as_bincode(&case("bincode_fixint_vec_string_ok.bin")), Format::Bincode).unwrap();
    assert!(ok.terms().eq(["alpha", "beta"]));
    for (name, reason) in [
        ("bincode_fixint_bad_utf8.bin", "not UTF-8"),
        ("bincode_fixint_string_len_max.bin", "a term needs 18446744073709551615 bytes"),
        ("bincode_fixint_trailing.bin", "come behind the end"),
        ("bincode_fixint_vec_len_2pow40.bin", "1099511627776 terms have no room"),
        ("bincode_fixint_vec_len_2pow63.bin", "9223372036854775808 terms have no room"),
        ("bincode_varint_vec_len_2pow60.bin", "terms have no room"),
    ] {
        let message = refuse(&as_bincode(&case(name)), Format::Bincode, name);
        assert!(message.contains(reason), "{name}: {message}");
        refuse(&case(name), Format::Bincode, name);
    }
}

#[test]
fn case_29_protobuf() {
    for (format, version) in [(Format::ProtobufV1, 1), (Format::ProtobufV2, 2)] {
        for (name, reason) in [
            ("protobuf_field_0.bin", "number 0"),
            ("protobuf_group_unclosed.bin", "wire type 3"),
            ("protobuf_len_too_long.bin", "needs 4294967295 bytes, 2 are left"),
            ("protobuf_varint_11_bytes.bin", "more than 64 bits"),
        ] {
            let message = refuse(&[&[0x08, version], &case(name)[..]].concat(), format, name);
            assert!(message.contains(reason), "{name}: {message}");
        }
        // Sound there, but of another schema.
        refuse(&[&[0x08, version], &case("protobuf_ok.bin")[..]].concat(), format, "terms in place of nodes");
    }
}

#[cfg(feature = "json")]
#[test]
fn case_29_json() {
    for (name, reason) in [
        ("json_duplicate_term.json", "term 1, `a`, does not come after `a`"),
        ("json_lone_surrogate.json", "hex escape"),
        ("json_truncated.json", "EOF"),
    ] {
        let message = refuse(&case(name), Format::Json, name);
        assert!(message.contains(reason), "{name}: {message}");
    }
    for bomb in ["[", "{\"terms\":", "{\"version\":1,\"terms\":[[", "{\"version\":1,\"terms\":{\"a\":["] {
        refuse(bomb.repeat(100_000).as_bytes(), Format::Json, "a depth bomb");
        refuse(&[bomb, &"[".repeat(100_000)].concat().into_bytes(), Format::Json, "a depth bomb");
    }
    for (text, reason) in [
        (r#"{"version":1}"#, "`terms` is missing"),
        (r#"{"terms":[]}"#, "`version` is missing"),
        (r#"{"version":1,"terms":[],"terms":[]}"#, "`terms` is there twice"),
        (r#"{"version":1,"terms":[],"other":[]}"#, "unknown field `other`"),
        (r#"{"version":1,"terms":[1]}"#, "expected a term"),
        (r#"{"version":1,"terms":{"a":-1}}"#, "invalid value"),
        (r#"{"version":1,"terms":{"a":1.5}}"#, "invalid type"),
        (r#"{"version":1,"terms":{"a":18446744073709551616}}"#, "invalid type"),
    ] {
        let message = refuse(text.as_bytes(), Format::Json, text);
        assert!(message.contains(reason), "{message}");
    }
    let message = refuse(b"{\"version\":1,\n\n\"terms\":[\"b\",\"a\"]}", Format::Json, "order");
    assert!(message.contains("at byte 30"), "{message}");
}

/// A message of a tree, which the tests then spoil.
fn tree() -> v1::Dictionary {
    let [bytes, _] = sound(Format::ProtobufV1);
    let mut message = v1::Dictionary::decode(&bytes[..]).unwrap();
    message.tail.as_mut().unwrap().crc32 = None;
    assert!(attempt(&message.encode_to_vec(), Format::ProtobufV1).is_ok());
    message
}

type Spoil<M> = fn(&mut M);

#[test]
fn graphs_that_are_no_trees() {
    let spoils: [(&str, Spoil<v1::Dictionary>); 10] = [
        ("there is a cycle", |it| {
            // The last node becomes its own child.
            let last = it.edges.last_mut().unwrap();
            last.source_id = last.target_id;
        }),
        ("there is a cycle", |it| {
            // Two nodes lead to each other.
            let (a, b) = (it.edges[1].target_id, it.edges[2].target_id);
            it.edges[1].source_id = b;
            it.edges[2].source_id = a;
        }),
        ("a second edge", |it| it.edges[3].target_id = it.edges[4].target_id),
        ("is not there", |it| it.edges[3].source_id = 1 << 40),
        ("is not there", |it| it.edges[3].target_id = 1 << 40),
        ("is there twice", |it| it.nodes[3].id = 2),
        ("no tree", |it| it.edges.truncate(4)),
        ("no byte", |it| it.edges[0].label = 256),
        ("promise", |it| it.tail.as_mut().unwrap().term_count += 1),
        ("not UTF-8", |it| it.edges.iter_mut().for_each(|edge| edge.label |= 0x80)),
    ];
    for (reason, spoil) in spoils {
        let mut message = tree();
        spoil(&mut message);
        let refused = refuse(&message.encode_to_vec(), Format::ProtobufV1, reason);
        assert!(refused.contains(reason), "{reason}: {refused}");
    }
}

#[test]
fn adjacency_lists_that_are_no_trees() {
    let [bytes, _] = sound(Format::ProtobufV2);
    let mut message = v2::Dictionary::decode(&bytes[..]).unwrap();
    message.tail.as_mut().unwrap().crc32 = None;
    assert!(attempt(&message.encode_to_vec(), Format::ProtobufV2).is_ok());
    let spoils: [(&str, Spoil<v2::Dictionary>); 8] = [
        ("goes back by 0", |it| it.backs[0] = 0),
        ("goes back by 2", |it| it.backs[0] = 2),
        ("goes back by", |it| *it.backs.last_mut().unwrap() = u64::MAX),
        ("no tree", |it| it.heads[0] += 2),
        ("makes too many", |it| it.heads[0] = u64::MAX),
        ("values for", |it| it.values.push(1)),
        ("no byte", |it| it.labels[0] = 256),
        ("the same label", |it| {
            let root = it.labels.len() - 1;
            it.labels[root] = it.labels[root - 1];
        }),
    ];
    for (reason, spoil) in spoils {
        let mut spoiled = message.clone();
        spoil(&mut spoiled);
        let refused = refuse(&spoiled.encode_to_vec(), Format::ProtobufV2, reason);
        assert!(refused.contains(reason), "{reason}: {refused}");
    }
}

/// A chain in which every node is final has terms of n²/2 bytes. That is refused before memory is, and can be allowed.
#[test]
fn a_little_that_holds_too_much() {
    let len = 20_000_u64;
    let node = |id| v1::Node { id, r#final: id > 0, value: 0 };
    let edge = |id| v1::Edge { source_id: id, label: 97, target_id: id + 1 };
    let tail = Tail { node_count: len + 1, term_count: len, text_bytes: len * (len + 1) / 2, crc32: None };
    let chain = v1::Dictionary {
        version: 1,
        nodes: (0..=len).map(node).collect(),
        edges: (0..len).map(edge).collect(),
        tail: Some(tail),
        ..v1::Dictionary::default()
    };
    let bytes = chain.encode_to_vec();
    let refused = refuse(&bytes, Format::ProtobufV1, "a chain");
    assert!(refused.contains("Decoder::text_limit"), "{refused}");
    let heads = std::iter::once(1).chain(std::iter::repeat_n(3, len as usize - 1)).chain([2]).collect();
    let lists = v2::Dictionary {
        version: 2,
        heads,
        labels: vec![97; len as usize],
        backs: vec![1; len as usize],
        tail: Some(tail),
        ..v2::Dictionary::default()
    };
    refuse(&lists.encode_to_vec(), Format::ProtobufV2, "a chain");
    let short: Vec<String> = (1..=300).map(|len| "a".repeat(len)).collect();
    let bytes = codec::encode(&short[..], Format::Image).unwrap();
    let limited = Decoder::new(Format::Image).text_limit(45_149).decode::<Dictionary>(&bytes);
    assert!(matches!(limited, Err(Error::Limit { limit: 45_149, .. })));
    assert!(Decoder::new(Format::Image).text_limit(45_150).decode::<Dictionary>(&bytes).is_ok());
}
