//! How often a family of claims without a single gain has one that is supported.

use super::decisions::arms;
use super::door::{registration, run};
use super::parallel;
use super::shape::Shape;
use super::table::{Entry, Table, error};
use harness::analyse::{Comparison, analyse};
use harness::decide::decide;
use harness::prereg::Prereg;
use harness::stats::rng::Rng;
use harness::stats::{Correction, PValue};
use harness::vocab::Finding;
use std::ops::Range;

const ALPHA: f64 = 0.05;
const N: usize = 30;
const LARGEST: usize = 20;

/// Sizes of the families.
const SIZES: [usize; 3] = [1, 5, LARGEST];

const ROWS: [&str; 9] = [
    "1 claim, Holm (2.5)",
    "5 claims, Holm (2.5)",
    "20 claims, Holm (2.5)",
    "1 claim, Benjamini-Hochberg (2.5)",
    "5 claims, Benjamini-Hochberg (2.5)",
    "20 claims, Benjamini-Hochberg (2.5)",
    "1 claim, none (2.5)",
    "5 claims, none (11.9)",
    "20 claims, none (39.7)",
];

/// Claims of a gain in each of the metrics.
fn claims(metrics: Range<usize>, correction: Correction) -> Prereg {
    let claim = |it| format!("[[hypotheses]]\nid = \"h{it}\"\nmetric = \"m{it}\"\nmin_effect = 0\n");
    let claims: String = metrics.map(claim).collect();
    let correction = match correction {
        Correction::Holm => "holm",
        Correction::BenjaminiHochberg => "bh",
        _ => "none",
    };
    registration(N, LARGEST, false, &format!("{claims}[decision]\ncorrection = \"{correction}\"\n"))
}

/// The registrations that are judged.
struct Families {
    corrected: Vec<(usize, Correction, Prereg)>,
    /// Without correction every claim stands by itself.
    single: Vec<Prereg>,
}

impl Families {
    fn new() -> Self {
        let of = |correction| move |size| (size, correction, claims(0..size, correction));
        let holm = SIZES.into_iter().map(of(Correction::Holm));
        Self {
            corrected: holm.chain(SIZES.into_iter().map(of(Correction::BenjaminiHochberg))).collect(),
            single: (0..LARGEST).map(|it| claims(it..it + 1, Correction::None)).collect(),
        }
    }

    /// Whether each family of an experiment has a false support, in order of the rows.
    fn errors(&self, shape: Shape, index: usize) -> Vec<Option<bool>> {
        let mut rng = Rng::stream(3, index as u64);
        let mut samples = Vec::new();
        for metric in 0..LARGEST {
            for (arm, values) in arms(shape, &mut rng, N, 100.0, false) {
                samples.push((format!("m{metric}"), arm, values));
            }
        }
        // All have the same metrics, so that one analysis serves them all.
        let run = run(&self.single[0], samples);
        let analysis = analyse(&self.single[0], &run);
        let p = |it: &Comparison| it.statistics.as_ref().ok()?.welch.test.map(|it| it.p.two_sided);
        let raw: Vec<PValue> = analysis.comparisons.iter().filter_map(p).collect();
        // Nothing is supported without a p below alpha, and to judge what cannot be supported is slow.
        let errs = |prereg: &Prereg, adjusted: &[PValue]| {
            adjusted.iter().any(|it| it.value() < ALPHA)
                && decide(prereg, &run, &analysis)
                    .hypotheses
                    .iter()
                    .any(|it| it.finding == Finding::Supported)
        };
        let corrected = self.corrected.iter();
        let mut errors: Vec<Option<bool>> = corrected
            .map(|(size, correction, prereg)| Some(errs(prereg, &correction.adjust(&raw[..*size]))))
            .collect();
        let single: Vec<bool> = self.single.iter().zip(&raw).map(|(prereg, p)| errs(prereg, &[*p])).collect();
        errors.extend(SIZES.map(|size| Some(single[..size].contains(&true))));
        errors
    }
}

/// The share of families with a false support, of a quarter of `runs`.
pub(super) fn table(runs: usize) -> Table {
    let runs = runs.div_ceil(4);
    let families = Families::new();
    let column = |shape: Shape| {
        (shape.name(), Entry::columns(&parallel::map(runs, |index| families.errors(shape, index))))
    };
    let title = format!(
        "Families without any gain: one or more claims supported, in %, n = {N} (in brackets what the rule allows; \
         standard error ± {} points at 2.5)",
        error(0.025, runs)
    );
    Table::by_columns(title, "family", &ROWS, &Shape::ALL.map(column))
}
