//! Inputs of plots: what an experiment looks like, and what none should look like.

use harness::render::plot::{
    Arm, Gain, GainRow, Gains, Interaction, Interval, LookPanel, LookPoint, Looks, Mean, Panel, Quantity,
    Row, Samples, Square, Telemetry, VerdictRow, Verdicts,
};
use harness::vocab::{Claim, Direction, Finding, Role, Unit, Verdict};

/// A small generator of noise; the same seed gives the same noise everywhere.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// `n` numbers about `center`, skewed to the right.
    pub(crate) fn lognormal(&mut self, center: f64, sigma: f64, n: usize) -> Vec<f64> {
        let one = |noise: &mut Self| (0..12).map(|_| noise.uniform()).sum::<f64>() - 6.0;
        (0..n).map(|_| center * libm::exp(sigma * one(self))).collect()
    }
}

/// An arm, with an interval of two standard errors about its mean.
pub(crate) fn arm(name: &str, role: Role, samples: Vec<f64>, warmups: Vec<f64>) -> Arm {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|it| (it - mean) * (it - mean)).sum::<f64>() / (n - 1.0);
    let half = 2.0 * (variance / n).sqrt();
    let interval = Interval { low: mean - half, high: mean + half };
    Arm { name: name.to_owned(), role, samples, warmups, interval: half.is_finite().then_some(interval) }
}

pub(crate) fn samples(title: &str, unit: &str, panels: Vec<Panel>) -> Samples {
    Samples {
        title: title.to_owned(),
        metric: "open_time".to_owned(),
        unit: Unit::parse(unit).unwrap(),
        better: Direction::Lower,
        interval: "95 % interval of the mean".to_owned(),
        panels,
    }
}

/// Three sizes, three arms: eager and its sham grow with the size, lazy does not.
pub(crate) fn lazy() -> Samples {
    let mut noise = Noise(20_260_110);
    let panel = |(cell, eager): (&str, f64)| {
        let mut arm = |name, role, center: f64| {
            let warmups = noise.lognormal(center * 1.3, 0.1, 3);
            arm(name, role, noise.lognormal(center, 0.05, 30), warmups)
        };
        let arms = vec![
            arm("eager", Role::Control, eager),
            arm("lazy", Role::Treatment, 0.02),
            arm("eager-again", Role::Sham, eager),
        ];
        Panel { cell: cell.to_owned(), arms }
    };
    let cells = [("terms=1000", 0.7), ("terms=100000", 70.0), ("terms=1000000", 700.0)];
    samples("Lazy loading: open_time", "ms", cells.into_iter().map(panel).collect())
}

/// Twelve arms with names that are too long, and one of each role.
pub(crate) fn twelve() -> Samples {
    let mut noise = Noise(12);
    let names = [
        "eager",
        "eager again",
        "empty loop",
        "lazy",
        "mapped",
        "parallel-2",
        "parallel-4",
        "parallel-8",
        "a strategy whose name goes on for very much longer than any column is wide",
        "測定テスト測定テスト測定テスト測定テスト測定テスト",
        "e\u{301}te\u{301} <b>&amp; | pipes</b>",
        "depth-limited-with-a-name-of-sixty-letters-that-has-no-blank",
    ];
    let role = |i| [Role::Control, Role::Sham, Role::Null].get(i).copied().unwrap_or(Role::Treatment);
    let arms = names.iter().enumerate().map(|(i, name)| {
        let center = if i == 2 { 40.0 } else { 100.0 + 9.0 * (i as f64) };
        let warmups = noise.lognormal(center, 0.1, 5);
        arm(name, role(i), noise.lognormal(center, 0.06, 60), warmups)
    });
    samples("Twelve strategies", "µs", vec![Panel { cell: String::new(), arms: arms.collect() }])
}

pub(crate) fn row(label: &str, cell: &str, margin: f64, finding: Finding, gain: (f64, f64, f64)) -> GainRow {
    let interval = Some(Interval { low: gain.0, high: gain.2 });
    GainRow {
        label: label.to_owned(),
        cell: cell.to_owned(),
        guard: false,
        claim: Claim::Superior,
        margin: Some(margin),
        finding,
        gain: Ok(Gain { value: gain.1, interval }),
    }
}

fn guard(row: GainRow) -> GainRow {
    GainRow { guard: true, claim: Claim::NonInferior, ..row }
}

pub(crate) fn gains(title: &str, rows: Vec<GainRow>) -> Gains {
    let interval = "95 % interval, Holm-corrected".to_owned();
    Gains { title: title.to_owned(), interval, rows, means: Vec::new() }
}

/// A handful of rows, none far beyond 100 %.
pub(crate) fn loading() -> Gains {
    use Finding::{Refuted, Supported, Undecided};
    gains(
        "Lazy loading: gains",
        vec![
            row("open-1m", "terms=1000000", 0.5, Supported, (0.999_960, 0.999_971, 0.999_980)),
            row("open-100k", "terms=100000", 0.5, Supported, (0.9995, 0.9997, 0.9998)),
            row("open-1k", "terms=1000", 0.5, Undecided, (0.41, 0.52, 0.63)),
            row("first-lookup", "terms=1000", 0.1, Refuted, (-0.35, -0.21, -0.07)),
            guard(row("bulk_lookup", "terms=1000", 0.05, Supported, (-0.02, 0.004, 0.028))),
            guard(row("bulk_lookup", "terms=1000000", 0.05, Refuted, (-0.31, -0.24, -0.17))),
            guard(row("memory", "terms=1000000", 0.05, Undecided, (-0.12, -0.03, 0.06))),
        ],
    )
}

/// Losses of thousands of percent, no baseline, and nothing but a point.
pub(crate) fn wide() -> Gains {
    use Finding::{Refuted, Supported, Undecided};
    let mut rows = loading().rows;
    rows.push(row("insert", "terms=1000000", 0.1, Refuted, (-33.0, -30.0, -27.5)));
    rows.push(GainRow {
        gain: Err("the control is zero".to_owned()),
        finding: Undecided,
        ..guard(rows[0].clone())
    });
    rows.push(GainRow {
        gain: Ok(Gain { value: 4.5, interval: None }),
        margin: None,
        ..row("throughput", "", 0.0, Supported, (0.0, 0.0, 0.0))
    });
    rows.push(GainRow { claim: Claim::Equivalent, ..row("size", "", 0.1, Undecided, (-0.2, 0.0, 0.15)) });
    gains("Gains of all kinds", rows)
}

/// Sixty rows.
pub(crate) fn sixty() -> Gains {
    let mut noise = Noise(60);
    let mut uniform = || noise.uniform();
    let rows = (0..60).map(|i| {
        let center = uniform() * 1.2 - 0.5;
        let half = uniform() * 0.15;
        let finding = if center - half > 0.1 {
            Finding::Supported
        } else if center + half < 0.1 {
            Finding::Refuted
        } else {
            Finding::Undecided
        };
        let label = format!("hypothesis-{i}-with-a-name-that-is-rather-long-for-a-label");
        row(
            &label,
            &format!("threads={i},terms=1000000"),
            0.1,
            finding,
            (center - half, center, center + half),
        )
    });
    gains("Sixty hypotheses", rows.collect())
}

pub(crate) fn mean(value: f64, half: f64) -> Mean {
    Mean { value, interval: Some(Interval { low: value - half, high: value + half }) }
}

fn interaction(lines: [&str; 2], squares: Vec<Square>) -> Interaction {
    Interaction {
        title: "Inline slots: throughput".to_owned(),
        metric: "throughput".to_owned(),
        unit: Unit::parse("Mop/s").unwrap(),
        better: Direction::Higher,
        interval: "95 % interval of the mean".to_owned(),
        across: ["c5=off", "c5=on"].map(str::to_owned),
        lines: lines.map(str::to_owned),
        squares,
    }
}

/// Two switches whose gains do not add up.
pub(crate) fn slots() -> Interaction {
    let means = [[mean(42.36, 0.3), mean(43.54, 0.35)], [mean(44.25, 0.28), mean(44.65, 0.4)]];
    interaction(["c6=off", "c6=on"], vec![Square { name: String::new(), means }])
}

/// A third factor, means that lie on each other, and names that are too long.
pub(crate) fn eight() -> Interaction {
    let equal = [[mean(40.0, 0.4), mean(44.0, 0.4)], [mean(40.0, 0.4), mean(44.0, 0.4)]];
    let crossed =
        [[mean(46.0, 2.4), mean(41.0, 0.1)], [mean(40.0, 0.4), Mean { value: 45.0, interval: None }]];
    let square = |name: &str, means| Square { name: name.to_owned(), means };
    let lines = ["c6=a-level-with-a-name-that-is-rather-long-for-its-place", "c6=on"];
    interaction(lines, vec![square("threads=1, c7=off", equal), square("threads=1, c7=on", crossed)])
}

fn experiment(id: &str, subtitle: &str, verdict: Verdict, gain: Option<f64>) -> VerdictRow {
    VerdictRow {
        experiment: id.to_owned(),
        subtitle: subtitle.to_owned(),
        verdict: Some(verdict),
        label: verdict.as_str().to_uppercase(),
        baseline: false,
        gain,
    }
}

/// A ledger with every verdict.
pub(crate) fn ledger() -> Verdicts {
    let baseline = VerdictRow {
        baseline: true,
        ..experiment("exp-0-baseline", "Eager loading", Verdict::Recorded, None)
    };
    let open = VerdictRow {
        verdict: None,
        label: "not run yet".to_owned(),
        ..experiment("exp-7-open", "Memory-mapped images", Verdict::Recorded, None)
    };
    Verdicts {
        title: "Loading: verdicts".to_owned(),
        rows: vec![
            baseline,
            experiment("exp-1-lazy", "Lazy loading", Verdict::Accept, Some(0.9997)),
            experiment("exp-2-depth", "Depth-limited loading", Verdict::Reject, Some(-0.182)),
            experiment("exp-3-parallel", "Parallel loading", Verdict::Accept, Some(0.431)),
            experiment("exp-4-prefetch", "Prefetch of the first level", Verdict::Inconclusive, Some(0.024)),
            experiment("exp-5-arena", "Nodes in an arena", Verdict::Invalid, Some(0.31)),
            experiment("exp-6-intern", "Interned symbols", Verdict::Inconclusive, None),
            open,
        ],
    }
}

/// One claim that stopped early, one that went to its end, one that is far beyond, one after every block.
pub(crate) fn looks() -> Looks {
    let point = |blocks, observed: f64, boundary: f64| LookPoint {
        blocks,
        observed: Some(observed),
        boundary: Some(boundary),
    };
    let panel = |label: &str, planned: Vec<u32>, stopped, finding, word: &str, looks| LookPanel {
        label: label.to_owned(),
        planned,
        stopped: Some(stopped),
        finding,
        word: word.to_owned(),
        looks,
    };
    let (two, three) = (vec![point(20, 1.9, 3.71), point(40, 2.98, 2.51)], [3.71, 2.51, 1.99]);
    let end = (1..=3).zip(three).map(|(look, boundary)| point(20 * look, 0.3 * f64::from(look), boundary));
    let every = (1..=90).map(|n| LookPoint {
        blocks: n,
        observed: (n > 3).then(|| 0.02 * f64::from(n) - 0.3 * f64::from(n % 7)),
        boundary: Some(1.6),
    });
    let planned = || vec![20, 40, 60];
    Looks {
        title: "Lazy loading: looks".to_owned(),
        statistic: "z".to_owned(),
        panels: vec![
            panel("open-1m", planned(), 40, Finding::Supported, "supported", two),
            panel("guard memory", planned(), 60, Finding::Undecided, "undecided", end.collect()),
            panel("far away", planned(), 20, Finding::Refuted, "refuted", vec![point(20, -36.0, 3.71)]),
            panel("every block", (1..=90).collect(), 90, Finding::Undecided, "undecided", every.collect()),
        ],
    }
}

/// A busy half hour: a block measured twice, one excluded, one of which the kernel told no steal.
pub(crate) fn host() -> Telemetry {
    let quantity = |name: &str, unit: &str, limit, value: &dyn Fn(u32) -> f64| Quantity {
        name: name.to_owned(),
        unit: unit.to_owned(),
        values: (0..60).map(|i| (name != "steal" || i != 30).then(|| value(i))).collect(),
        limit,
    };
    Telemetry {
        title: "Lazy loading: the host".to_owned(),
        quantities: vec![
            quantity("load", "", Some(1.5), &|i| {
                0.4 + 0.02 * f64::from(i % 9) + if i == 17 { 1.4 } else { 0.0 }
            }),
            quantity("steal", "%", Some(2.0), &|i| if i == 41 { 6.5 } else { 0.1 * f64::from(i % 3) }),
            quantity("pressure", "%", None, &|i| 0.5 * f64::from(i * 7 % 11)),
        ],
        aside: vec![Row { at: 17, excluded: false }, Row { at: 41, excluded: true }],
    }
}
