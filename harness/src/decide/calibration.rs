use super::judge::one_cell;
use crate::analyse::Stages;
use crate::prereg::{Contrast, Hypothesis, Prereg};
use crate::stats::wilson;
use crate::store::SampleSet;
use crate::vocab::{Agreement, Cell, Claim, Correction, Digest, Direction, Finding, Labels, Margin, Role};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Slowdowns that are injected, as shares.
pub const INJECTED: [f64; 4] = [0.01, 0.02, 0.05, 0.10];

/// The range in which the smallest slowdown that is found is searched, and in how many halvings: to 1 % of itself.
const RANGE: [f64; 2] = [1e-4, 1.0];
const HALVINGS: u32 = 10;

/// What a host makes of the control against itself, by the rule of one registration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Its identity.
    pub id: Uuid,
    /// The host's pseudonym.
    pub host: String,
    /// The experiment whose control was measured.
    pub experiment: String,
    /// Its registration: another design or rule has another floor.
    pub registration: Digest,
    /// When it was complete.
    pub at: Timestamp,
    /// By which version.
    pub harness: String,
    /// Samples of each arm in a comparison.
    pub samples: u32,
    /// By metric and cell.
    pub places: Vec<Calibrated>,
}

/// One metric in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// The metric.
    pub metric: String,
    /// The cell; may be empty.
    pub cell: String,
    /// Comparisons of the control with itself.
    pub comparisons: u32,
    /// In how many of them one copy was called better.
    pub false_accepts: Share,
    /// In how many of them one copy was called better or worse.
    pub different: Share,
    /// The gain, as a share, that 95 % of the comparisons stay below, whichever its direction.
    pub noise_floor: f64,
    /// How many of the comparisons find an injected slowdown.
    pub power: Vec<Power>,
    /// The smallest slowdown that 80 % of the comparisons find; `None` if that is beyond 100 %.
    pub smallest_80: Option<f64>,
    /// The same for 95 %.
    pub smallest_95: Option<f64>,
}

/// How often something happened, with the 95 % interval of its chance (Wilson).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// How often.
    pub hits: u32,
    /// Out of how many.
    pub of: u32,
    /// The interval.
    pub interval: [f64; 2],
}

impl Share {
    fn new(hits: usize, of: usize) -> Self {
        let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let (hits, of) = (count(hits), count(of));
        Self { hits, of, interval: wilson(hits, of) }
    }
}

/// How often a slowdown is found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// The slowdown, as a share.
    pub slowdown: f64,
    /// How often.
    pub found: Share,
}

/// The registration of the control against a copy of itself: the same worker, design, test and alpha, one claim of any gain
/// a metric, nothing corrected. `None` if there is no control.
pub fn twin(prereg: &Prereg, samples: Option<u32>) -> Option<Prereg> {
    let original = prereg.arms.iter().find(|it| it.role == Role::Control)?;
    let mut copy = original.clone();
    copy.name = format!("{}.copy", original.name);
    let mut treatment = original.clone();
    treatment.role = Role::Treatment;
    let contrast = Contrast { treatment: treatment.name.clone(), control: copy.name.clone() };
    let mut twin = prereg.clone();
    twin.hypotheses = prereg
        .metrics
        .iter()
        .map(|metric| Hypothesis {
            id: metric.name.clone(),
            metric: metric.name.clone(),
            condition: Vec::new(),
            contrast: contrast.clone(),
            effect: None,
            claim: Claim::Superior,
            margin: Margin::Relative(0.0),
            min_effect: 0.0,
        })
        .collect();
    twin.arms = vec![copy, treatment];
    (twin.guards, twin.factors, twin.reference, twin.design.looks) = (Vec::new(), None, None, None);
    twin.design.samples = samples.unwrap_or(prereg.design.samples);
    (twin.decision.correction, twin.decision.agreement) = (Correction::None, Agreement::Report);
    (twin.decision.labels, twin.decision.thresholds) = (Labels::AcceptReject, None);
    Some(twin)
}

/// Judges every comparison of a [`twin`], as it was and with slowdowns.
///
/// A slowdown of `s` is injected by multiplying each sample of the copy by `1 + s` (dividing, where higher is better): what
/// the host would have measured had all of the work taken so much longer. The noise is the real one of each comparison, and
/// the same in all slowdowns.
pub fn calibrate(twin: &Prereg, comparisons: &[Vec<SampleSet>]) -> Vec<Calibrated> {
    let mut places = Vec::new();
    for cell in twin.cells() {
        for metric in &twin.metrics {
            let mut only = twin.clone();
            only.hypotheses.retain(|it| it.metric == metric.name);
            let judge =
                |sets: &[SampleSet], slowdown: f64| judged(&only, &cell, sets, metric.better, slowdown);
            let plain: Vec<(Finding, Option<f64>)> = comparisons.iter().map(|it| judge(it, 0.0)).collect();
            let finds = |sets: &[SampleSet], slowdown: f64| judge(sets, slowdown).0 == Finding::Supported;
            let mut smallest: Vec<f64> = comparisons
                .iter()
                .map(|sets| {
                    let [mut low, mut high] = RANGE;
                    if !finds(sets, high) {
                        return f64::INFINITY;
                    }
                    for _ in 0..HALVINGS {
                        let middle = (low * high).sqrt();
                        if finds(sets, middle) { high = middle } else { low = middle }
                    }
                    high
                })
                .collect();
            smallest.sort_by(f64::total_cmp);
            // What was not judged is no quiet comparison.
            let mut gains: Vec<f64> =
                plain.iter().map(|(_, gain)| gain.map_or(f64::INFINITY, f64::abs)).collect();
            gains.sort_by(f64::total_cmp);
            let n = comparisons.len();
            let count = |wanted: &dyn Fn(Finding) -> bool| plain.iter().filter(|(it, _)| wanted(*it)).count();
            let power = |slowdown: f64| Power {
                slowdown,
                found: Share::new(comparisons.iter().filter(|it| finds(it, slowdown)).count(), n),
            };
            let Some(noise_floor) = reached_by(&gains, 0.95) else { continue };
            places.push(Calibrated {
                metric: metric.name.clone(),
                cell: cell.to_string(),
                comparisons: u32::try_from(n).unwrap_or(u32::MAX),
                false_accepts: Share::new(count(&|it| it == Finding::Supported), n),
                different: Share::new(count(&|it| it != Finding::Undecided), n),
                noise_floor,
                power: INJECTED.into_iter().map(power).collect(),
                smallest_80: reached_by(&smallest, 0.80),
                smallest_95: reached_by(&smallest, 0.95),
            });
        }
    }
    places
}

/// The value that a share of all sorted values do not exceed; `None` if it is not finite.
fn reached_by(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.checked_sub(1)?).copied().filter(|it| it.is_finite())
}

fn judged(
    twin: &Prereg,
    cell: &Cell,
    sets: &[SampleSet],
    better: Direction,
    slowdown: f64,
) -> (Finding, Option<f64>) {
    let copy = &twin.arms[0].name;
    let factor = match better {
        Direction::Lower => 1.0 + slowdown,
        Direction::Higher => 1.0 / (1.0 + slowdown),
    };
    let mut slowed = sets.to_vec();
    for value in slowed.iter_mut().filter(|it| it.arm == *copy).flat_map(|it| &mut it.values) {
        *value *= factor;
    }
    let comparisons = Stages::of(twin, cell, &slowed).after(twin.design.samples);
    let judged = one_cell(twin, &comparisons);
    judged
        .first()
        .map_or((Finding::Undecided, None), |it| (it.finding, it.gain.as_ref().ok().map(|it| it.value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prereg::parse;
    use crate::stats::rng::Rng;

    fn prereg() -> Prereg {
        let text = "id = 'x'\ntitle = 'x'\nledger = 'x'\n[worker]\ncommand = ['x']\nsystem = 'x'\n\
                    [arms.a]\nrole = 'control'\n[arms.b]\nrole = 'treatment'\nparams.p = 1\n\
                    [design]\nsamples = 20\n[metrics.m]\nunit = 'ms'\nbetter = 'lower'\n\
                    [[guards]]\nmetric = 'm'\nmargin = 0.1\n";
        parse(text, "x.toml").unwrap()
    }

    /// Comparisons of even noise of ±1 %, the copy off by a share.
    fn comparisons(twin: &Prereg, n: usize, off: f64) -> Vec<Vec<SampleSet>> {
        let mut rng = Rng::new(7);
        let mut noise = || 1.0 + 0.02 * (rng.next_u64() as f64 / u64::MAX as f64 - 0.5);
        let mut set = |arm: &str, level: f64| SampleSet {
            metric: "m".to_owned(),
            cell: String::new(),
            arm: arm.to_owned(),
            warmup: false,
            first_block: 0,
            unit: "ms".to_owned(),
            values: (0..20).map(|_| level * noise()).collect(),
            at_ns: Vec::new(),
        };
        let [copy, original] = [&twin.arms[0].name, &twin.arms[1].name];
        (0..n).map(|_| vec![set(copy, 5.0 * (1.0 + off)), set(original, 5.0)]).collect()
    }

    #[test]
    fn equal_copies_are_rarely_called_different_and_slow_ones_are_found() {
        let twin = twin(&prereg(), None).unwrap();
        let [it] = &calibrate(&twin, &comparisons(&twin, 200, 0.0))[..] else { panic!() };
        // At most 5 % in truth; 20 of 200 would be beyond three standard errors.
        assert!(it.different.hits < 20 && it.false_accepts.hits <= it.different.hits, "{it:?}");
        // The standard error of a difference of means is 0.18 %.
        assert!((0.002..0.006).contains(&it.noise_floor), "{it:?}");
        let (least, more) = (it.smallest_80.unwrap(), it.smallest_95.unwrap());
        assert!((0.003..0.008).contains(&least) && least < more, "{it:?}");
        assert_eq!(it.power[2].found.hits, 200);
    }

    #[test]
    fn a_host_that_favors_one_copy_is_found_out() {
        let twin = twin(&prereg(), None).unwrap();
        let [it] = &calibrate(&twin, &comparisons(&twin, 40, 0.05))[..] else { panic!() };
        assert_eq!(it.false_accepts.hits, 40);
        assert!(it.noise_floor > 0.04);
    }

    #[test]
    fn nothing_measured_is_no_calibration() {
        let twin = twin(&prereg(), Some(2)).unwrap();
        assert!(calibrate(&twin, &[]).is_empty());
        assert!(calibrate(&twin, &[Vec::new()]).is_empty());
    }
}
