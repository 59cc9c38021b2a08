//! Every codec beside the usual crate of its format with derived types, on the terms of the serialization ledger.
//!
//! `cargo bench -p engine --bench codec --features json`. A peer starts from the same terms and ends with them: from
//! and to a `Vec<String>`, for Protocol Buffers by way of the messages.

#[path = "../tests/support/derived.rs"]
mod derived;
#[path = "../tests/support/graphs.rs"]
mod graphs;
#[path = "../tests/support/messages.rs"]
mod messages;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use derived::{Document, File, Terms, legacy};
use engine::codec::{Capacity, Decoder, Dictionary, Encoder, Format};
use engine::trie::Verify;
use engine::{CharImage, CharTrie};
use prost::Message;

/// The ledger's terms: `word` and the number in up to eight digits, in order.
fn words(count: usize) -> Vec<String> {
    let mut words: Vec<String> = (0..count).map(|i| format!("word{i:0width$}", width = i % 9)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn dictionary_of(words: &[String]) -> Dictionary {
    let bytes = Encoder::new(Format::Bincode).to_bytes(words).expect("the words are sorted");
    Decoder::new(Format::Bincode).decode(&bytes).expect("the bytes are sound")
}

fn codecs(criterion: &mut Criterion) {
    let words = words(5_000);
    let dictionary = dictionary_of(&words);
    let mut group = criterion.benchmark_group("codec_5k");
    group.sample_size(40);
    for format in Format::ALL {
        for (name, capacity) in [("exact", Capacity::Exact), ("growing", Capacity::Growing)] {
            let encoder = Encoder::new(format).capacity(capacity);
            let decoder = Decoder::new(format).capacity(capacity);
            let bytes = encoder.to_bytes(&dictionary).expect("the words are sorted");
            group.bench_function(BenchmarkId::new(format!("encode {format}"), name), |bencher| {
                bencher.iter(|| encoder.to_bytes(black_box(&dictionary)));
            });
            group.bench_function(BenchmarkId::new(format!("decode {format}"), name), |bencher| {
                bencher.iter(|| decoder.decode::<Dictionary>(black_box(&bytes)));
            });
        }
    }

    let file = File { magic: *b"dicb", version: 1, terms: Terms::Set(words.clone()), crc32: 0 };
    let bytes = bincode::encode_to_vec(&file, legacy()).expect("the types have codecs");
    group.bench_function("encode bincode/derived", |bencher| {
        // The same bytes: with the checksum of all before it.
        bencher.iter(|| {
            let mut bytes = bincode::encode_to_vec(black_box(&file), legacy())?;
            let sum_at = bytes.len() - 4;
            let sum = crc32fast::hash(&bytes[..sum_at]);
            bytes[sum_at..].copy_from_slice(&sum.to_le_bytes());
            Ok::<_, bincode::error::EncodeError>(bytes)
        });
    });
    group.bench_function("decode bincode/derived", |bencher| {
        bencher.iter(|| bincode::decode_from_slice::<File, _>(black_box(&bytes), legacy()));
    });
    let document = Document { version: 1, terms: words.clone() };
    let bytes = serde_json::to_vec(&document).expect("the types have codecs");
    group.bench_function("encode json/derived", |bencher| {
        bencher.iter(|| serde_json::to_vec(black_box(&document)));
    });
    group.bench_function("decode json/derived", |bencher| {
        bencher.iter(|| serde_json::from_slice::<Document>(black_box(&bytes)));
    });
    let bytes = graphs::v1_of(&words).encode_to_vec();
    group.bench_function("encode protobuf-v1/derived", |bencher| {
        bencher.iter(|| graphs::v1_of(black_box(&words)).encode_to_vec());
    });
    group.bench_function("decode protobuf-v1/derived", |bencher| {
        bencher.iter(|| {
            messages::v1::Dictionary::decode(black_box(&bytes[..])).map(|it| graphs::terms_of_v1(&it))
        });
    });
    group.bench_function("decode protobuf-v1/derived, message only", |bencher| {
        bencher.iter(|| messages::v1::Dictionary::decode(black_box(&bytes[..])));
    });
    let bytes = graphs::v2_of(&words).encode_to_vec();
    group.bench_function("encode protobuf-v2/derived", |bencher| {
        bencher.iter(|| graphs::v2_of(black_box(&words)).encode_to_vec());
    });
    group.bench_function("decode protobuf-v2/derived", |bencher| {
        bencher.iter(|| {
            messages::v2::Dictionary::decode(black_box(&bytes[..])).map(|it| graphs::terms_of_v2(&it))
        });
    });
    group.bench_function("decode protobuf-v2/derived, message only", |bencher| {
        bencher.iter(|| messages::v2::Dictionary::decode(black_box(&bytes[..])));
    });
    group.finish();
}

/// What takes the place of decoding: an image is opened, every page of it verified. And what a decoded dictionary
/// costs until it can be asked: terms put into a trie.
fn opening(criterion: &mut Criterion) {
    let words = words(5_000);
    let mut group = criterion.benchmark_group("open_5k");
    let image = Encoder::new(Format::Image).to_bytes(&words[..]).expect("the words are sorted");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("words.trie");
    std::fs::write(&path, &image).expect("the scratch folder has room");
    let verified = engine::OpenOptions::new().verify(Verify::Full);
    group.bench_function("image in a file, verified", |bencher| {
        bencher.iter(|| CharImage::<()>::open(black_box(&path), verified));
    });
    group.bench_function("image in memory, copied, verified", |bencher| {
        bencher.iter(|| CharImage::<()>::from_bytes(black_box(&image).clone(), Verify::Full));
    });
    let bytes = Encoder::new(Format::Bincode).to_bytes(&words[..]).expect("the words are sorted");
    group.bench_function("bincode into a trie", |bencher| {
        bencher
            .iter_with_large_drop(|| Decoder::new(Format::Bincode).decode::<CharTrie<()>>(black_box(&bytes)));
    });
    group.finish();
}

criterion_group!(benches, codecs, opening);
criterion_main!(benches);
