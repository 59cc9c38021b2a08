//! Every codec beside the usual crate of its format with derived types, on the terms of the serialization ledger.
//!
//! `cargo bench -p engine --bench codec --features json`. A peer starts from the same terms and ends with them: from
//! and to a `Vec<String>`, for Protocol Buffers by way of the messages. At the end, a table of ratios from rounds in which
//! both take turns: whatever else the host does falls on both.

#![expect(clippy::print_stdout, reason = "the table")]

#[path = "../tests/support/derived.rs"]
mod derived;
#[path = "../tests/support/graphs.rs"]
mod graphs;
#[path = "../tests/support/messages.rs"]
mod messages;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
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

/// Work that is timed. What it makes is dropped within the time.
type Work = Box<dyn Fn()>;

fn work<T>(it: impl Fn() -> T + 'static) -> Work {
    Box::new(move || {
        black_box(it());
    })
}

/// The same by the engine and by its peer.
struct Pair {
    name: String,
    ours: Work,
    peers: Work,
}

fn encode(format: Format, capacity: Capacity, dictionary: &Dictionary) -> Work {
    let (encoder, dictionary) = (Encoder::new(format).capacity(capacity), dictionary.clone());
    work(move || encoder.to_bytes(black_box(&dictionary)))
}

fn decode(format: Format, capacity: Capacity, dictionary: &Dictionary) -> Work {
    let bytes = Encoder::new(format).to_bytes(dictionary).expect("the words are sorted");
    let decoder = Decoder::new(format).capacity(capacity);
    work(move || decoder.decode::<Dictionary>(black_box(&bytes)))
}

/// Every codec that has a peer, in both directions.
fn pairs(words: &[String]) -> Vec<Pair> {
    let dictionary = dictionary_of(words);
    let pair = |format: Format, encode_peer: Work, decode_peer: Work| {
        let ours =
            [encode(format, Capacity::Exact, &dictionary), decode(format, Capacity::Exact, &dictionary)];
        let names = [format!("encode {format}"), format!("decode {format}")];
        let peers = [encode_peer, decode_peer];
        names.into_iter().zip(ours).zip(peers).map(|((name, ours), peers)| Pair { name, ours, peers })
    };
    let file = File { magic: *b"dicb", version: 1, terms: Terms::Set(words.to_vec()), crc32: 0 };
    let bytes = bincode::encode_to_vec(&file, legacy()).expect("the types have codecs");
    let bincode = pair(
        Format::Bincode,
        work(move || {
            // The same bytes: with the checksum of all before it.
            let mut bytes = bincode::encode_to_vec(black_box(&file), legacy())?;
            let sum_at = bytes.len() - 4;
            let sum = crc32fast::hash(&bytes[..sum_at]);
            bytes[sum_at..].copy_from_slice(&sum.to_le_bytes());
            Ok::<_, bincode::error::EncodeError>(bytes)
        }),
        work(move || bincode::decode_from_slice::<File, _>(black_box(&bytes), legacy())),
    );
    let document = Document { version: 1, terms: words.to_vec() };
    let bytes = serde_json::to_vec(&document).expect("the types have codecs");
    let json = pair(
        Format::Json,
        work(move || serde_json::to_vec(black_box(&document))),
        work(move || serde_json::from_slice::<Document>(black_box(&bytes))),
    );
    let (terms, bytes) = (words.to_vec(), graphs::v1_of(words).encode_to_vec());
    let v1 = pair(
        Format::ProtobufV1,
        work(move || graphs::v1_of(black_box(&terms)).encode_to_vec()),
        work(move || {
            messages::v1::Dictionary::decode(black_box(&bytes[..])).map(|it| graphs::terms_of_v1(&it))
        }),
    );
    let (terms, bytes) = (words.to_vec(), graphs::v2_of(words).encode_to_vec());
    let v2 = pair(
        Format::ProtobufV2,
        work(move || graphs::v2_of(black_box(&terms)).encode_to_vec()),
        work(move || {
            messages::v2::Dictionary::decode(black_box(&bytes[..])).map(|it| graphs::terms_of_v2(&it))
        }),
    );
    bincode.chain(json).chain(v1).chain(v2).collect()
}

/// What takes the place of decoding: an image is saved, and opened with every page of it verified, beside bincode that
/// is saved, and decoded into a trie that can be asked.
fn opening(words: &[String], folder: &std::path::Path) -> Vec<Pair> {
    let dictionary = dictionary_of(words);
    let image = Encoder::new(Format::Image).to_bytes(&dictionary).expect("the words are sorted");
    let (image_path, bincode_path) = (folder.join("words.trie"), folder.join("words.bincode"));
    std::fs::write(&image_path, &image).expect("the scratch folder has room");
    let bytes = Encoder::new(Format::Bincode).to_bytes(&dictionary).expect("the words are sorted");
    let save = |format: Format| {
        let (dictionary, path) = (dictionary.clone(), folder.join(format!("saved.{format}")));
        work(move || {
            let bytes = Encoder::new(format).to_bytes(black_box(&dictionary)).map_err(|it| it.to_string())?;
            std::fs::write(&path, bytes).map_err(|it| it.to_string())
        })
    };
    std::fs::write(&bincode_path, bytes).expect("the scratch folder has room");
    let verified = engine::OpenOptions::new().verify(Verify::Full);
    vec![
        Pair {
            name: "save image, without sync".to_owned(),
            ours: save(Format::Image),
            peers: save(Format::Bincode),
        },
        Pair {
            name: "open image, verified".to_owned(),
            ours: work(move || CharImage::<()>::open(black_box(&image_path), verified)),
            peers: work(move || {
                let bytes = std::fs::read(black_box(&bincode_path)).map_err(|it| it.to_string())?;
                let decoder = Decoder::new(Format::Bincode);
                decoder.decode::<CharTrie<()>>(&bytes).map_err(|it| it.to_string())
            }),
        },
        Pair {
            name: "open image, in memory".to_owned(),
            ours: work(move || CharImage::<()>::from_bytes(black_box(&image).clone(), Verify::Full)),
            peers: decode(Format::Bincode, Capacity::Exact, &dictionary),
        },
    ]
}

/// How long `calls` take.
fn time(work: &Work, calls: u32) -> Duration {
    let start = Instant::now();
    (0..calls).for_each(|_| work());
    start.elapsed()
}

/// What rounds of about a millisecond say, in which both take turns.
struct Compared {
    /// The time of a call in microseconds: the median, and that of the fastest round.
    median: f64,
    fastest: f64,
    /// By how much the peer takes longer: the median.
    ratio: f64,
}

fn compare(pair: &Pair) -> Compared {
    let calls = |work: &Work| {
        let one = time(work, 3).as_secs_f64() / 3.0;
        ((1e-3 / one.max(1e-9)) as u32).clamp(1, 100_000)
    };
    let (ours, peers) = (calls(&pair.ours), calls(&pair.peers));
    let mut rounds: Vec<(f64, f64)> = Vec::new();
    for round in 0..301 {
        let mut own = 0.0;
        if round % 2 == 0 {
            own = time(&pair.ours, ours).as_secs_f64() / f64::from(ours);
        }
        let other = time(&pair.peers, peers).as_secs_f64() / f64::from(peers);
        if round % 2 == 1 {
            own = time(&pair.ours, ours).as_secs_f64() / f64::from(ours);
        }
        rounds.push((own * 1e6, other / own));
    }
    let middle = |of: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = rounds.iter().map(of).collect();
        all.sort_unstable_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let fastest = rounds.iter().map(|it| it.0).fold(f64::INFINITY, f64::min);
    Compared { median: middle(|it| it.0), fastest, ratio: middle(|it| it.1) }
}

fn main() {
    let words = words(5_000);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (pairs, opening) = (pairs(&words), opening(&words, folder.path()));
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("codec_5k");
    group.sample_size(40);
    for Pair { name, ours, peers } in pairs.iter().chain(&opening) {
        group.bench_function(BenchmarkId::new(name, "engine"), |bencher| bencher.iter(ours));
        group.bench_function(BenchmarkId::new(name, "peer"), |bencher| bencher.iter(peers));
    }
    let dictionary = dictionary_of(&words);
    for format in Format::ALL {
        let growing =
            [encode(format, Capacity::Growing, &dictionary), decode(format, Capacity::Growing, &dictionary)];
        for (what, work) in ["encode", "decode"].into_iter().zip(growing) {
            let id = BenchmarkId::new(format!("{what} {format}"), "engine, growing");
            group.bench_function(id, |bencher| bencher.iter(&work));
        }
    }
    group.finish();
    criterion.final_summary();
    println!("\n{:<26} {:>12} {:>12} {:>16}", "5,000 terms", "engine, us", "fastest, us", "peer : engine");
    for pair in pairs.iter().chain(&opening) {
        let Compared { median, fastest, ratio } = compare(pair);
        println!("{:<26} {median:>12.1} {fastest:>12.1} {ratio:>16.2}", pair.name);
    }
}
