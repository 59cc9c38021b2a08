//! Evidence files: bit for bit, and never silently something else.

#![cfg(feature = "app")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod schema;

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use harness::exchange::chain as chain_file;
use harness::exchange::evidence::{
    Evidence, EvidenceError, read_run, registrations, runs, write_registration, write_run,
};
use harness::store::{
    CellArm, Event, Git, Invalidation, Link, Registration, Run, RunArm, RunData, SampleSet, StoredFinding,
    StoredVerdict, Subject, chain,
};
use harness::vocab::{Digest, Finding, RunState, Seal, Verdict};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// A line of samples, as it is written.
const SAMPLE: &str = r#"{"samples":{"metric":"time","cell":"","arm":"a","warmup":false,"first_block":0,"unit":"ms","values":[1.5],"at_ns":[7],"sha256":"3e6c4d0d1a1a0a1f7a7f1a9c7c38e6f2b0a2d2d7e3c74f6d0b8a0e3b5a1c9d47"}}"#;

fn at(text: &str) -> jiff::Timestamp {
    text.parse().unwrap()
}

fn git() -> Git {
    Git { commit: "0123456789abcdef0123456789abcdef01234567".into(), dirty: true }
}

fn registration() -> Registration {
    let canonical = "id = \"demo\"\n".to_owned();
    Registration {
        experiment: "demo".into(),
        title: "Demo".into(),
        version: 2,
        digest: Digest::of(&canonical),
        canonical,
        doc: json!({ "id": "demo" }),
        git: git(),
        registered_at: at("2026-01-10T12:00:00.123456Z"),
        reason: Some("a typo".into()),
    }
}

fn set(arm: &str, warmup: bool, first_block: u32, values: &[f64]) -> SampleSet {
    SampleSet {
        metric: "time".into(),
        cell: "terms=1".into(),
        arm: arm.into(),
        warmup,
        first_block,
        unit: "ms".into(),
        values: values.to_vec(),
        at_ns: (0..values.len() as i64).map(|it| it * 1_000_000_007).collect(),
    }
}

/// A run that was resumed, with warm-ups and numbers that are hard to write.
fn evidence() -> Evidence {
    let id = "01940000-0000-7000-8000-0000000000ab".parse().unwrap();
    let event = |seq, state, detail| Event { seq, at: at("2026-01-10T12:00:01Z"), state, detail };
    let run = Run {
        id,
        experiment: "demo".into(),
        version: 2,
        registration: registration().digest,
        host: "h-1".into(),
        environment: json!({ "load": 0.25, "os": "Linux", "cores": 2 }),
        harness: "0.1.0".into(),
        seed: u64::MAX,
        git: git(),
        started_at: at("2026-01-10T12:00:00.000001Z"),
    };
    let hard = [5e-324, -0.0, 1e308, f64::MAX, -f64::MIN_POSITIVE, 0.1 + 0.2, 1e23, 9_007_199_254_740_993.0];
    let finding = StoredFinding {
        subject: Subject::Hypothesis,
        id: "h".into(),
        metric: "time".into(),
        cell: "terms=1".into(),
        treatment: "b".into(),
        control: "a".into(),
        finding: Finding::Supported,
        n_control: 8,
        n_treatment: 8,
        mean_control: Some(1.0 / 3.0),
        mean_treatment: Some(2.5e-7),
        gain: Some(0.5),
        gain_low: Some(0.25),
        gain_high: Some(0.75),
        statistic: Some(-3.0),
        df: Some(7.5),
        p_value: Some(1e-300),
        ln_p: Some(-690.0),
        p_adjusted: Some(2e-300),
        effect_size: Some(-1.5),
    };
    let verdict = StoredVerdict {
        run: id,
        seq: 1,
        verdict: Verdict::Accept,
        doc: json!({ "verdict": "accept", "numbers": [0.1, 1e-300, null] }),
        harness: "0.1.0".into(),
        decided_at: at("2026-01-10T12:30:00Z"),
    };
    Evidence {
        data: RunData {
            run,
            arms: vec![RunArm {
                arm: "a".into(),
                command: vec!["worker".into(), "ü | \"x\"\n".into()],
                env: BTreeMap::from([("NAME".into(), "1".into())]),
                binary: Some(Digest::of("program")),
                build: Some(serde_json::json!({ "commit": "0".repeat(40), "command": ["make"] })),
            }],
            cells: vec![CellArm {
                cell: "terms=1".into(),
                arm: "a".into(),
                effective: json!({ "mode": "a" }),
                result: "9f3c".into(),
            }],
            events: vec![
                event(1, RunState::Running, None),
                event(2, RunState::Aborted, Some(json!({ "reason": "interrupted" }))),
                event(3, RunState::Resumed, None),
                event(4, RunState::Done, None),
            ],
            sets: vec![
                set("a", true, 0, &[3.5, 3.25]),
                set("a", false, 0, &hard),
                set("a", false, 9, &[1.0]),
                set("b", false, 0, &hard),
            ],
            invalidations: vec![],
        },
        verdicts: vec![(verdict, vec![finding])],
    }
}

/// The same, set aside and taken back.
fn invalidated() -> Evidence {
    let mut evidence = evidence();
    let it = |seq, invalid, reason: &str| Invalidation {
        seq,
        at: at("2026-01-11T08:00:00.5Z"),
        invalid,
        reason: reason.into(),
    };
    evidence.data.invalidations =
        vec![it(1, true, "the host was throttled | \"so\""), it(2, false, "it was not")];
    evidence
}

/// A chain of three links.
fn links() -> Vec<Link> {
    let mut previous = chain::start("demo");
    let objects = [(Seal::Registered, "1"), (Seal::Begun, "01940000-0000-7000-8000-0000000000ab")];
    let mut links = Vec::new();
    for ((kind, object), seq) in objects.into_iter().zip(1..) {
        let at = at("2026-01-10T12:00:00.123456Z");
        let body = Digest::of(object);
        let mut link = Link { seq, kind, object: object.into(), at, found: seq == 2, body, hash: previous };
        link.hash = link.hash_after(previous);
        previous = link.hash;
        links.push(link);
    }
    links
}

fn written(evidence: &Evidence) -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let path = write_run(root.path(), evidence).unwrap();
    (root, path)
}

/// The lines of the file that holds `evidence`.
fn lines(evidence: &Evidence) -> Vec<String> {
    let (_root, path) = written(evidence);
    let mut text = String::new();
    GzDecoder::new(&std::fs::read(path).unwrap()[..]).read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn pack(lines: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    for line in lines {
        writeln!(gzip, "{}", line.as_ref()).unwrap();
    }
    gzip.finish().unwrap()
}

/// Reads `bytes` as the file of the run.
fn read(bytes: &[u8]) -> Result<Evidence, EvidenceError> {
    let (_root, path) = written(&evidence());
    std::fs::write(&path, bytes).unwrap();
    read_run(&path)
}

#[track_caller]
fn refused(bytes: &[u8], line: usize, problem: &str) {
    let error = read(bytes).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("run-01940000-0000-7000-8000-0000000000ab.ndjson.gz"), "{text}");
    assert!(text.contains(&format!(" line {line}: ")) && text.contains(problem), "{text}");
}

fn bits(evidence: &Evidence) -> Vec<Vec<u64>> {
    evidence.data.sets.iter().map(|it| it.values.iter().map(|it| it.to_bits()).collect()).collect()
}

#[test]
fn a_run_travels_bit_for_bit_and_always_in_the_same_bytes() {
    let (root, path) = written(&evidence());
    let read = read_run(&path).unwrap();
    assert_eq!(read, evidence());
    assert_eq!(bits(&read), bits(&evidence()));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(std::fs::read(write_run(root.path(), &read).unwrap()).unwrap(), bytes);
    assert_eq!(runs(root.path()).unwrap(), [(evidence().data.run.id, path)]);
}

#[test]
fn an_invalidation_travels_in_a_format_of_its_own() {
    let (_root, path) = written(&invalidated());
    assert_eq!(read_run(&path).unwrap(), invalidated());
    assert_eq!(lines(&invalidated())[0], r#"{"evidence":2}"#);
    // What was never set aside stays readable by whoever knows the first format only.
    assert_eq!(lines(&evidence())[0], r#"{"evidence":1}"#);
    assert!(invalidated().data.invalidated().is_none());
    let mut aside = invalidated();
    aside.data.invalidations.truncate(1);
    assert_eq!(aside.data.invalidated().unwrap().seq, 1);
}

#[test]
fn a_chain_travels_and_every_change_of_it_is_named() {
    let base = tempfile::tempdir().unwrap();
    let path = chain_file::write(base.path(), "demo", &links()).unwrap();
    assert_eq!(chain_file::read(base.path(), "demo").unwrap(), links());
    assert_eq!(chain_file::read(base.path(), "other").unwrap(), []);
    let text = std::fs::read_to_string(&path).unwrap();
    let problem = |text: &str| {
        std::fs::write(&path, text).unwrap();
        chain_file::read(base.path(), "demo").unwrap_err().to_string()
    };
    let cut = &text[..text.len() - 1];
    assert!(problem(cut).ends_with("chain.ndjson` is damaged at line 2: its last line was cut"));
    let mut turned: Vec<&str> = text.lines().rev().collect();
    turned.push("");
    assert!(
        problem(&turned.join("\n"))
            .contains("link 2 (begun 01940000-0000-7000-8000-0000000000ab) stands where link 1 should")
    );
    for (old, new) in
        [("true", "false"), ("12:00:00.123456", "12:00:00.123457"), ("0ab\"", "0ac\""), ("begun", "event")]
    {
        let told = problem(&text.replace(old, new));
        assert!(
            told.contains("does not have the hash that follows from the links before it"),
            "{old}: {told}"
        );
    }
    // A chain belongs to its experiment.
    std::fs::write(&path, &text).unwrap();
    std::fs::rename(base.path().join("demo"), base.path().join("memo")).unwrap();
    assert!(chain_file::read(base.path(), "memo").unwrap_err().to_string().contains("link 1 (registered 1)"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_samples_travel(values in prop::collection::vec(any::<f64>().prop_filter("finite", |it| it.is_finite()), 0..300)) {
        let mut evidence = evidence();
        evidence.data.sets = vec![set("a", false, 0, &values)];
        let (_root, path) = written(&evidence);
        prop_assert_eq!(bits(&read_run(&path).unwrap()), bits(&evidence));
    }
}

#[test]
fn every_cut_is_an_error_that_names_the_file() {
    let (_root, path) = written(&evidence());
    let bytes = std::fs::read(&path).unwrap();
    for end in 0..bytes.len() {
        std::fs::write(&path, &bytes[..end]).unwrap();
        let error = read_run(&path).unwrap_err().to_string();
        assert!(error.contains(".ndjson.gz` is damaged at line "), "{end}: {error}");
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_changes_nothing() {
    let (_root, path) = written(&evidence());
    let bytes = std::fs::read(&path).unwrap();
    let mut harmless = 0;
    for i in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[i] ^= flip;
            std::fs::write(&path, &damaged).unwrap();
            match read_run(&path) {
                Ok(read) => {
                    assert_eq!(read, evidence(), "byte {i}");
                    harmless += 1;
                }
                Err(error) => assert!(error.to_string().contains(".ndjson.gz`"), "{error}"),
            }
        }
    }
    // Time, system and level in the header of gzip.
    assert!(harmless < 40, "{harmless}");
}

#[test]
fn lines_must_say_what_they_should() {
    let all = lines(&evidence());
    assert!(read(&pack(&all)).is_ok());
    let changed = |i: usize, text: &str| {
        let mut lines = all.clone();
        lines[i] = text.to_owned();
        pack(lines)
    };
    let last = all.len() - 1;
    refused(&changed(0, r#"{"evidence":3}"#), 1, "it has format 3, this harness knows 2");
    refused(&changed(0, &all[1]), 1, "the version of the format is missing");
    refused(&changed(2, r#"{"evidence":1}"#), 3, "the version stands here again");
    refused(&changed(2, r#"{"joke":{}}"#), 3, "unknown variant `joke`");
    refused(&changed(2, "{"), 3, "EOF while parsing");
    refused(&changed(2, ""), 3, "EOF while parsing");
    refused(&changed(2, &all[1]), 3, "a second run stands here");
    refused(&changed(last, r#"{"end":99}"#), last + 1, "it should have 99 lines before this");
    refused(&pack(&all[..last]), last + 1, "it ends before its last line");
    let without_run: Vec<_> = all.iter().filter(|it| !it.starts_with(r#"{"run""#)).collect();
    assert!(read(&pack(without_run)).is_err());
    let mut more = all.clone();
    more.push(String::new());
    refused(&pack(&more), last + 2, "a line follows its end");
    let mut twice = pack(&all);
    twice.extend(pack(["more"]));
    refused(&twice, last + 1, "something follows its end");
}

#[test]
fn samples_must_have_their_digest_and_stand_there_once() {
    let all = lines(&evidence());
    let i = all.iter().position(|it| it.contains("0.30000000000000004")).unwrap();
    let mut changed = all.clone();
    changed[i] = changed[i].replace("0.30000000000000004", "0.3");
    refused(&pack(&changed), i + 1, "the samples do not have the digest they name");
    changed[i] = all[i].replace("0.30000000000000004", "1e400");
    refused(&pack(&changed), i + 1, "number out of range");
    let mut twice = evidence();
    twice.data.sets.push(set("a", false, 9, &[2.0]));
    let (_root, path) = written(&twice);
    assert!(
        read_run(&path).unwrap_err().to_string().ends_with("samples of `time` in arm `a` are there twice")
    );
}

#[test]
fn a_file_lies_where_it_belongs() {
    let (root, path) = written(&evidence());
    let renamed = path.with_file_name("run-01940000-0000-7000-8000-0000000000ff.ndjson.gz");
    std::fs::rename(&path, &renamed).unwrap();
    let holds = "it holds what belongs to `demo/run-01940000-0000-7000-8000-0000000000ab.ndjson.gz`";
    assert!(read_run(&renamed).unwrap_err().to_string().ends_with(holds));
    let other = root.path().join("ledgers/evidence/other").join(path.file_name().unwrap());
    std::fs::create_dir_all(other.parent().unwrap()).unwrap();
    std::fs::rename(&renamed, &other).unwrap();
    assert!(read_run(&other).unwrap_err().to_string().ends_with(holds));
    std::fs::rename(&other, other.with_file_name("run-run-1.ndjson.gz")).unwrap();
    assert!(runs(root.path()).unwrap_err().to_string().contains("its name holds no run id"));
    let mut foreign = evidence();
    foreign.verdicts[0].0.run = uuid::Uuid::nil();
    let (_root, path) = written(&foreign);
    assert!(read_run(&path).unwrap_err().to_string().contains("the verdict is of run 00000000-"));
}

#[test]
fn bombs_are_refused() {
    // One line of a gigabyte: no more of it is read than a line may have.
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(b"{\"evidence\":1}\n").unwrap();
    let blanks = vec![b' '; 1 << 20];
    for _ in 0..64 {
        gzip.write_all(&blanks).unwrap();
    }
    let start = std::time::Instant::now();
    refused(&gzip.finish().unwrap(), 2, "the line has more than 16777216 bytes");
    // Many lines that say little.
    let line =
        format!(r#"{{"arm":{}{{"arm":"a","command":[],"env":{{}},"binary":null}}}}"#, " ".repeat(15 << 20));
    let many = pack(std::iter::once(r#"{"evidence":1}"#).chain(std::iter::repeat_n(line.as_str(), 20)));
    assert!(many.len() < 4 << 20);
    refused(&many, 19, "it has more than 268435456 bytes of text");
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_registration_travels_and_is_checked() {
    let root = tempfile::tempdir().unwrap();
    let path = write_registration(root.path(), &registration()).unwrap();
    assert_eq!(registrations(root.path()).unwrap(), [(path.clone(), registration())]);
    let text = std::fs::read_to_string(&path).unwrap();
    let problem = |text: &str, path: &Path| {
        std::fs::write(path, text).unwrap();
        registrations(root.path()).unwrap_err().to_string()
    };
    let altered = text.replace("id = \\\"demo\\\"", "id = \\\"memo\\\"");
    assert!(problem(&altered, &path).ends_with("the registration's text does not have the digest it names"));
    let other = text.replace("\"version\": 2", "\"version\": 3");
    assert!(problem(&other, &path).ends_with("it holds what belongs to `demo/registration-3.json`"));
    let cut = &text[..text.len() / 2];
    assert!(problem(cut, &path).contains("registration-2.json` is damaged at line "));
    assert!(problem("", &path).contains("is damaged at line 1"));
}
