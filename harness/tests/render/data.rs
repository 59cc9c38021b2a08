//! A ledger with every kind of experiment, made up.

use harness::prereg::{Prereg, parse};
use harness::render::{Experiment, RecordedRun};
use harness::stats::rng::Rng;
use harness::store::{CellArm, Event, Git, Registration, Run, RunArm, RunData, SampleSet};
use harness::vocab::{Digest, RunState};
use serde_json::json;
use std::collections::BTreeMap;

/// The mean of metric, cell and arm.
pub(crate) type Mean = fn(&str, &str, &str) -> f64;

/// The parts of a registration that are the same in all.
fn text(id: &str, order: u32, title: &str, rest: &str) -> String {
    format!(
        "id = \"{id}\"\ntitle = {}\nledger = \"loading\"\norder = {order}\n{rest}\n[worker]\npackage = \"experiments\"\n\
         system = \"loading\"\n",
        json!(title)
    )
}

const ARMS: &str = "[arms.eager]\nrole = \"control\"\nparams.strategy = \"eager\"\n[arms.lazy]\nrole = \"treatment\"\n\
                    params.strategy = \"lazy\"\n";
const METRICS: &str = "[metrics.open_time]\nunit = \"ms\"\nbetter = \"lower\"\n[metrics.memory]\nunit = \"MiB\"\nbetter = \"lower\"\n";
const DESIGN: &str = "[design]\nsamples = 12\nwarmups = 2\nseed = 7\n";
const CLAIM: &str = "[[hypotheses]]\nid = \"open\"\nmetric = \"open_time\"\nmargin = 0.5\n";
const GUARD: &str = "[[guards]]\nmetric = \"memory\"\nmargin = 0.05\n";

fn prereg(text: &str) -> Prereg {
    parse(text, &format!("{}.toml", text.split('"').nth(1).unwrap())).unwrap_or_else(|it| panic!("{it}"))
}

fn git(n: u8) -> Git {
    Git { commit: format!("{n:02x}").repeat(20), dirty: false }
}

fn at(minutes: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_768_046_400 + 60 * minutes).unwrap()
}

fn registration(prereg: &Prereg, version: u32, reason: Option<&str>) -> Registration {
    Registration {
        experiment: prereg.id.clone(),
        title: prereg.title.clone(),
        version,
        canonical: prereg.canonical(),
        doc: prereg.to_json(),
        digest: prereg.digest(),
        git: git(17),
        registered_at: at(i64::from(version)),
        reason: reason.map(str::to_owned),
    }
}

fn run(prereg: &Prereg, version: u32, n: u8, host: &str, mean: Mean) -> RunData {
    let mut rng = Rng::new(u64::from(n));
    let mut sets = Vec::new();
    for metric in &prereg.metrics {
        for cell in prereg.cells() {
            for arm in &prereg.arms {
                let mean = mean(&metric.name, &cell.to_string(), &arm.name);
                let mut value =
                    || mean * (1.0 + 0.02 * ((rng.next_u64() >> 40) as f64 / f64::from(1_u32 << 24) - 0.5));
                let mut set = |warmup: bool, count: u32, value: &mut dyn FnMut() -> f64| {
                    sets.push(SampleSet {
                        metric: metric.name.clone(),
                        cell: cell.to_string(),
                        arm: arm.name.clone(),
                        warmup,
                        first_block: 0,
                        unit: metric.unit.name().into(),
                        values: (0..count).map(|_| value()).collect(),
                        at_ns: (0..i64::from(count)).collect(),
                    });
                };
                set(true, prereg.design.warmups, &mut value);
                set(false, prereg.design.samples, &mut value);
            }
        }
    }
    let cells = prereg.cells().into_iter().flat_map(|cell| {
        let cell = cell.to_string();
        let of = move |arm: &str| CellArm {
            cell: cell.clone(),
            arm: arm.into(),
            effective: json!({}),
            result: "9f3c".into(),
        };
        prereg.arms.iter().map(move |it| of(&it.name)).collect::<Vec<_>>()
    });
    let arms = prereg.arms.iter().map(|it| RunArm {
        arm: it.name.clone(),
        command: vec!["target/release/experiments".into()],
        env: BTreeMap::new(),
        binary: Some(Digest::of("program")),
        build: None,
    });
    let event = |seq, state| Event { seq, at: at(10 + i64::from(n)), state, detail: None };
    RunData {
        run: Run {
            id: format!("01940000-0000-7000-8000-0000000000{n:02x}").parse().unwrap(),
            experiment: prereg.id.clone(),
            version,
            registration: prereg.digest(),
            host: host.into(),
            environment: json!({ "os": "Linux 6.1", "cpu": "Example <CPU> | 2 GHz", "cores": 2, "load": 0.25, "memory_mib": 3904 }),
            harness: "0.1.0".into(),
            seed: 1000 + u64::from(n),
            git: git(n),
            started_at: at(10 + i64::from(n)),
        },
        arms: arms.collect(),
        cells: cells.collect(),
        events: vec![event(1, RunState::Running), event(2, RunState::Done)],
        invalidations: Vec::new(),
        sets,
    }
}

fn experiment(prereg: Prereg, runs: Vec<RunData>, notes: Option<&str>) -> Experiment {
    let runs = runs.into_iter().map(|it| RecordedRun::new(&prereg, it)).collect();
    Experiment {
        versions: vec![(registration(&prereg, 1, None), prereg)],
        runs,
        notes: notes.map(str::to_owned),
    }
}

fn lazy(metric: &str, cell: &str, arm: &str) -> f64 {
    let terms = if cell.ends_with("1000000") { 1000.0 } else { 1.0 };
    match (metric, arm) {
        ("open_time", "lazy") => 0.17 * terms,
        ("open_time", _) => 8.35 * terms,
        ("memory", _) => 1.5 * terms,
        _ => 1.0,
    }
}

fn slower(metric: &str, _: &str, arm: &str) -> f64 {
    match (metric, arm) {
        ("lookups", "lazy") => 2.9,
        ("lookups", _) => 3.2,
        ("open_time", "lazy") => 9.0,
        ("open_time", _) => 8.35,
        _ => 64.0,
    }
}

fn near(metric: &str, _: &str, arm: &str) -> f64 {
    match (metric, arm) {
        ("open_time", "lazy") => 4.18,
        ("open_time", _) => 8.35,
        ("memory", "lazy") => 67.3,
        _ => 64.0,
    }
}

fn two(metric: &str, _: &str, arm: &str) -> f64 {
    match (metric, arm) {
        ("open_time", "lazy") => 2.0,
        ("open_time", "mapped") => 0.0125,
        ("open_time", _) => 8.35,
        _ => 64.0,
    }
}

fn slots(metric: &str, cell: &str, arm: &str) -> f64 {
    let threads = if cell.ends_with('2') { 1.7 } else { 1.0 };
    match (metric, arm) {
        ("rate", "c5-off.c6-off") => 42.36 * threads,
        ("rate", "c5-on.c6-off") => 43.54 * threads,
        ("rate", "c5-off.c6-on") => 44.25 * threads,
        ("rate", "c5-on.c6-on") => 44.65 * threads,
        ("rate", _) => 121.5 * threads,
        // No gain to add up.
        _ => 64.0,
    }
}

/// Two switches in two cells, with a peer beside them and more than one threshold.
fn factorial() -> Experiment {
    let rest = "claim = \"Both switches give at least 3 %, and what they give adds up.\"\n";
    let factors = "[factors.c5]\noff = { env = { INLINE_C5 = \"0\" } }\non = { env = { INLINE_C5 = \"1\" } }\n\
                   [factors.c6]\noff = { params = { c6 = false } }\non = { params = { c6 = true } }\n\
                   [arms.peer]\nrole = \"treatment\"\nparams.peer = true\n[params]\nthreads = [1, 2]\n\
                   [metrics.rate]\nunit = \"Mop/s\"\nbetter = \"higher\"\n[metrics.memory]\nunit = \"MiB\"\nbetter = \"lower\"\n";
    let claims = "[[hypotheses]]\nid = \"both\"\nmetric = \"rate\"\ncontrast = \"total\"\n\
                  [[hypotheses]]\nid = \"c6\"\nmetric = \"rate\"\ncontrast = \"main:c6\"\nwhere = { threads = 1 }\n\
                  [[hypotheses]]\nid = \"adds-up\"\nmetric = \"rate\"\ncontrast = \"additivity\"\nclaim = \"non-inferior\"\n\
                  margin = 0.2\nwhere = { threads = 1 }\n[decision]\nlabels = \"go-nogo\"\n[decision.thresholds]\ngo = 0.01\n\
                  strong_go = 0.03\n[report]\nreference = \"peer\"\n";
    let it = prereg(&[&text("exp-7-slots", 7, "Inline slots", rest), factors, DESIGN, claims].concat());
    let data = run(&it, 1, 15, "host-a", slots);
    experiment(it, vec![data], None)
}

/// Judged within blocks, whose interval is not that of the means.
pub(crate) fn by_block() -> Experiment {
    let text = text("exp-9-pairs", 9, "Pairs", "");
    let it = prereg(&[&text, ARMS, METRICS, DESIGN, "[decision]\ntest = \"paired-t\"\n", CLAIM].concat());
    let mut data = run(&it, 1, 9, "host-a", near);
    // What slows both arms down from block to block is in the spread of the means and in no pair.
    for set in &mut data.sets {
        for (block, value) in (set.first_block..).zip(&mut set.values) {
            *value *= 1.0 + 0.05 * f64::from(block);
        }
    }
    experiment(it, vec![data], None)
}

/// Accepted after an amendment, with a sham arm, cells and two replications, one of which disagrees.
fn accepted() -> Experiment {
    let rest = "claim = \"Opening a trie lazily takes less than half the time of opening it eagerly.\"\n\
                changes = [\"nodes are made on first access\", \"the file stays mapped\"]\nbaseline = \"exp-0-baseline\"\n";
    let sham = "[arms.again]\nrole = \"sham\"\nparams.strategy = \"eager\"\n[params]\nterms = [1_000, 1_000_000]\nlookups = 10_000\n";
    let version = |samples: u32| {
        let design = format!("[design]\nsamples = {samples}\nwarmups = 2\nseed = 7\n");
        prereg(
            &[&text("exp-1-lazy", 1, "Lazy loading", rest), ARMS, sham, METRICS, &design, CLAIM, GUARD]
                .concat(),
        )
    };
    let (first, second) = (version(8), version(12));
    let runs = vec![
        RecordedRun::new(&first, run(&first, 1, 1, "host-a", lazy)),
        RecordedRun::new(&second, run(&second, 2, 2, "host-a", lazy)),
        RecordedRun::new(&second, run(&second, 2, 3, "host-a", lazy)),
        RecordedRun::new(&second, {
            let mut data = run(&second, 2, 4, "host-b", near);
            for it in data.sets.iter_mut().filter(|it| it.metric == "memory") {
                it.values.iter_mut().for_each(|it| *it = 64.0);
            }
            data
        }),
    ];
    let versions = vec![
        (registration(&first, 1, None), first),
        (registration(&second, 2, Some("8 samples are too few | see the notes")), second),
    ];
    let notes = "The gain grows with the number of terms.\n\n```text\n| not a table |\n```\n";
    Experiment { versions, runs, notes: Some(notes.to_owned()) }
}

/// With what the host did: a run that was resumed after four blocks, and whose block 3 was measured twice.
fn watched(data: RunData) -> RunData {
    let telemetry = |steps: &[u32], load: &[f64], steal: Option<f64>| {
        let mut quantities = json!({ "load": { "unit": "", "values": load } });
        if let Some(steal) = steal {
            quantities["steal"] = json!({ "unit": "share", "values": vec![steal; steps.len()] });
        }
        json!({ "telemetry": { "steps": steps, "quantities": quantities } })
    };
    let block = json!({ "block": {
        "cell": "", "block": 3, "step": 5, "attempt": 1, "then": "remeasure", "reasons": ["load 2.5, at most 1.5"],
        "conditions": { "load": 2.5 }, "samples": [{ "metric": "open_time", "arm": "lazy", "unit": "ms", "values": [9.5] }],
    }});
    let first = telemetry(&[0, 1, 2, 3], &[0.2, 0.25, 0.25, 0.3], None);
    let second = telemetry(
        &[4, 5, 5, 6, 7, 8, 9, 10, 11, 12, 13],
        &[0.5, 2.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
        Some(0.01),
    );
    let event = |seq, state, detail: Option<serde_json::Value>| Event { seq, at: at(22), state, detail };
    let events = vec![
        event(1, RunState::Running, None),
        event(2, RunState::Aborted, Some(first)),
        event(3, RunState::Resumed, None),
        event(4, RunState::Running, Some(block)),
        event(5, RunState::Done, Some(second)),
    ];
    RunData { events, ..data }
}

/// Every experiment, in ledger order.
pub(crate) fn experiments() -> Vec<Experiment> {
    let baseline = prereg(
        &[
            &text("exp-0-baseline", 0, "Eager loading, the baseline", ""),
            "[arms.eager]\nrole = \"control\"\nparams.strategy = \"eager\"\n",
            METRICS,
            DESIGN,
        ]
        .concat(),
    );
    let rate = "[metrics.lookups]\nunit = \"Mop/s\"\nbetter = \"higher\"\n";
    let claim = "[[hypotheses]]\nid = \"more-lookups\"\nmetric = \"lookups\"\nmargin = 0.02\n[[guards]]\nmetric = \"open_time\"\n\
                 margin = { absolute = 0.2 }\n";
    let rejected = prereg(
        &[
            &text("exp-2-cache", 2, "A cache of nodes", "claim = \"A cache gives more lookups a second.\"\n"),
            ARMS,
            METRICS,
            rate,
            DESIGN,
            claim,
        ]
        .concat(),
    );
    let undecided = prereg(
        &[
            &text("exp-3-depth", 3, "A limit of the depth", "claim = \"Half the time is enough.\"\n"),
            ARMS,
            METRICS,
            DESIGN,
            CLAIM,
            GUARD,
            "[environment.blocks]\nmax_load = 1.5\n",
        ]
        .concat(),
    );
    let invalid =
        prereg(&[&text("exp-4-parallel", 4, "Parallel loading", ""), ARMS, METRICS, DESIGN, CLAIM].concat());
    let hostile = "claim = \"<script>alert(1)</script> a | b\"\nchanges = [\"# not a heading\", \"- not a list `code`\", \"漢字 ｗｉｄｅ\"]\n";
    let treatments = "[arms.eager]\nrole = \"control\"\nparams.strategy = \"a|b\"\n[arms.lazy]\nrole = \"treatment\"\nparams.strategy = \"<b>\"\n\
                      [arms.mapped]\nrole = \"treatment\"\nparams.strategy = \"mapped\"\nenv = { MODE = \"x|y\" }\n";
    let claims = "[[hypotheses]]\nid = \"lazy\"\nmetric = \"open_time\"\ntreatment = \"lazy\"\nmargin = 0.5\n[[hypotheses]]\nid = \"mapped\"\n\
                  metric = \"open_time\"\ntreatment = \"mapped\"\nmargin = 0.5\n[[guards]]\nmetric = \"memory\"\ntreatment = \"mapped\"\nmargin = 0.05\n";
    let two_treatments = prereg(
        &[
            &text("exp-5-two", 5, "Two treatments | <i>names</i> and \u{202e}tricks", hostile),
            treatments,
            METRICS,
            DESIGN,
            claims,
        ]
        .concat(),
    );
    let planned = prereg(&[&text("exp-6-planned", 6, "Planned", ""), ARMS, METRICS, DESIGN, CLAIM].concat());
    let mut wrong = run(&invalid, 1, 13, "host-a", two);
    wrong.cells[1].result = "0000".into();
    let data = |it: &Prereg, n: u8, mean: Mean| vec![run(it, 1, n, "host-a", mean)];
    let guarded = watched(run(&undecided, 1, 12, "host-a", near));
    vec![
        experiment(baseline.clone(), data(&baseline, 10, slower), None),
        accepted(),
        experiment(rejected.clone(), data(&rejected, 11, slower), None),
        experiment(undecided, vec![guarded], None),
        experiment(invalid, vec![wrong], None),
        experiment(two_treatments.clone(), data(&two_treatments, 14, two), Some("Said later: 5 < 6.\n")),
        experiment(planned, Vec::new(), None),
        factorial(),
    ]
}
