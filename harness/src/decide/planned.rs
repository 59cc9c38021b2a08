use super::Kind;
use super::claim::smallest_signed_rank_p;
use super::judge::shares_a_gain;
use super::sequence::Sequence;
use crate::analyse::{Comparison, Samples, Statistics, Undefined, analyse};
use crate::prereg::{Contrast, Prereg};
use crate::stats::dist::noncentral_t_sf;
use crate::stats::{Design, Moments, StatsError, mann_whitney_smallest_p};
use crate::store::RunData;
use crate::vocab::{Cell, Claim, Correction, Margin, Order, Scalar, Test, Unit};
use std::collections::BTreeMap;

/// What the registered n of a hypothesis or guard can show in one cell, by the spread of a pilot.
///
/// Of one claim within its family: Bonferroni's share of alpha, which is what decides under Holm at first and what
/// Benjamini and Hochberg never fall below. Planned is the registered test with its interval: paired tests by the differences
/// within blocks, tests of ranks with their efficiency, the bootstrap as Welch's t, which it comes to. A minimum effect has to
/// be met as well. Of group-sequential looks the last one is planned, so that a cell that may stop before it has more power
/// than this. What the signs of an e-process or `agreement = "require"` ask beyond that is not counted.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Whether it is claimed or guarded.
    pub kind: Kind,
    /// The hypothesis's id; the metric's name for a guard.
    pub id: String,
    /// The form of the claim.
    pub claim: Claim,
    /// The registered margin.
    pub margin: Margin,
    /// The error rate of this claim alone.
    pub alpha: f64,
    /// The registered samples of each arm.
    pub n: usize,
    /// The pilot's samples.
    pub pilot: Comparison,
    /// How much of the deviation is left in differences within blocks; `None` where there are no pairs.
    pub paired_sd: Option<f64>,
    /// Deviation of an unpaired difference of single samples, on the same scale: `paired_sd` below it is what blocks gain.
    pub unpaired_sd: Option<f64>,
    /// How far beyond the margin a true gain must lie to be shown with 80 % power by the registered n.
    pub detectable: Result<f64, Undefined>,
    /// The power against true gains: the pilot's own first, then the one that was asked about.
    pub against: Vec<Result<Against, Undefined>>,
}

/// The prospects if the true gain is this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// The true gain, counted as the margin is.
    pub gain: f64,
    /// Whether it is the pilot's own.
    pub observed: bool,
    /// Whether the claim holds at this gain; if not, the rest is about its refutation.
    pub holds: bool,
    /// The chance that the registered n decides so.
    pub power: f64,
    /// Samples of each arm for 80 % and 95 % power; `None`: no feasible number.
    pub needed: [Option<usize>; 2],
    /// The same if the analysis were by differences within blocks; `None` without pairs.
    pub needed_paired: Option<[Option<usize>; 2]>,
}

/// The two powers that are planned for.
pub const POWERS: [f64; 2] = [0.8, 0.95];

/// A hypothesis or guard, as both are planned.
struct Asked<'a> {
    kind: Kind,
    id: &'a str,
    metric: &'a str,
    condition: &'a [(String, Scalar)],
    contrast: &'a Contrast,
    claim: Claim,
    margin: Margin,
    min_effect: f64,
}

/// Plans every hypothesis and guard of `prereg` in every cell, from the samples of a run or pilot.
///
/// `gain` is another true gain to plan for, as a share of the control's mean. `blocked`: samples of a block belong
/// together, so that pairs exist.
pub fn plan_power(prereg: &Prereg, pilot: &RunData, gain: Option<f64>, blocked: bool) -> Vec<Planned> {
    let analysis = analyse(prereg, pilot);
    let samples = Samples::of(pilot).units(&prereg.design);
    let blocked = blocked && prereg.design.order != Order::Sequential;
    let hypotheses = prereg.hypotheses.iter().map(|it| Asked {
        kind: Kind::Hypothesis,
        id: &it.id,
        metric: &it.metric,
        condition: &it.condition,
        contrast: &it.contrast,
        claim: it.claim,
        margin: it.margin,
        min_effect: it.min_effect,
    });
    let guards = prereg.guards.iter().map(|it| Asked {
        kind: Kind::Guard,
        id: &it.metric,
        metric: &it.metric,
        condition: &it.condition,
        contrast: &it.contrast,
        claim: Claim::NonInferior,
        margin: it.margin,
        min_effect: 0.0,
    });
    let cells = prereg.cells();
    let places: Vec<(Asked<'_>, &Cell)> = hypotheses
        .chain(guards)
        .flat_map(|it| {
            let Asked { kind, id, metric, condition, contrast, claim, margin, min_effect } = it;
            let cells: Vec<&Cell> = cells.iter().filter(|cell| cell.matches(condition)).collect();
            cells.into_iter().map(move |cell| {
                (Asked { kind, id, metric, condition, contrast, claim, margin, min_effect }, cell)
            })
        })
        .collect();
    let family = places.iter().filter(|(it, _)| it.kind == Kind::Hypothesis).count();
    let share = if prereg.decision.correction == Correction::None { 1.0 } else { family.max(1) as f64 };
    places
        .iter()
        .filter_map(|(asked, cell)| {
            let cell = cell.to_string();
            let pilot = analysis.find(asked.metric, &cell, asked.contrast)?;
            let divided = if asked.kind == Kind::Hypothesis { share } else { 1.0 };
            let alpha = prereg.decision.alpha / divided;
            let pairs = if blocked { pairs(&samples, pilot) } else { Vec::new() };
            Some(plan(prereg, asked, pilot, alpha, gain, &pairs))
        })
        .collect()
}

/// Treatment and control of the blocks that have both.
fn pairs(samples: &Samples, comparison: &Comparison) -> Vec<(f64, f64)> {
    let Comparison { metric, cell, treatment, control, .. } = comparison;
    let control: BTreeMap<u32, f64> = samples.blocks(metric, cell, control).collect();
    let treatment = samples.blocks(metric, cell, treatment);
    treatment.filter_map(|(block, value)| Some((value, *control.get(&block)?))).collect()
}

fn plan(
    prereg: &Prereg,
    asked: &Asked<'_>,
    pilot: &Comparison,
    alpha: f64,
    gain: Option<f64>,
    pairs: &[(f64, f64)],
) -> Planned {
    let n = prereg.design.units() as usize;
    // A plan whose last look may spend nothing is none that a registration can have.
    let at_the_end = Sequence::to_the_end(&prereg.design).boundary(alpha, asked.claim);
    let at_the_end = at_the_end.map_or(alpha, |(p, _)| p);
    let question = Question { asked, pilot, alpha: at_the_end, n, test: prereg.decision.test, pairs };
    let observed = pilot.gain(asked.margin, 0.5).map(|it| it.value);
    let mut against = vec![observed.clone().and_then(|it| question.against(it, true))];
    if let Some(share) = gain {
        let counted = match (asked.margin, &pilot.statistics) {
            (Margin::Absolute(_), Ok(it)) => Ok(share * it.control.mean().abs()),
            (Margin::Absolute(_), Err(it)) => Err(it.clone()),
            (Margin::Relative(_), _) => Ok(share),
        };
        against.push(counted.and_then(|it| question.against(it, false)));
    }
    let paired_sd = question
        .limit(observed.clone().unwrap_or(1.0))
        .ok()
        .and_then(|it| it.paired.map(|it| it.sd_treatment));
    let unpaired_sd = paired_sd.and_then(|_| {
        let design = question.limit(observed.unwrap_or(1.0)).ok()?.design;
        Some(design.sd_treatment.hypot(design.sd_control))
    });
    Planned {
        kind: asked.kind,
        id: asked.id.to_owned(),
        claim: asked.claim,
        margin: asked.margin,
        alpha,
        n,
        pilot: pilot.clone(),
        paired_sd,
        unpaired_sd,
        detectable: question.detectable(),
        against,
    }
}

struct Question<'a> {
    asked: &'a Asked<'a>,
    pilot: &'a Comparison,
    /// That p must be below at the end.
    alpha: f64,
    n: usize,
    test: Test,
    pairs: &'a [(f64, f64)],
}

/// One limit of a claim, as a test of a mean difference.
struct LimitOf {
    threshold: f64,
    /// What a gain is multiplied by to be in the metric's unit.
    scale: f64,
    design: Design,
    /// The design of the differences within pairs: one arm that varies.
    paired: Option<Design>,
}

impl Question<'_> {
    fn statistics(&self) -> Result<&Statistics, Undefined> {
        self.pilot.statistics.as_ref().map_err(Clone::clone)
    }

    /// The limit that a true gain has to be told from; of "no difference", the nearer one.
    fn limit(&self, gain: f64) -> Result<LimitOf, Undefined> {
        let margin = self.asked.margin.value();
        self.limit_at(match self.asked.claim {
            Claim::Superior => margin,
            Claim::NonInferior => -margin,
            Claim::Equivalent => margin.copysign(gain),
        })
    }

    fn limit_at(&self, threshold: f64) -> Result<LimitOf, Undefined> {
        let statistics = self.statistics()?;
        if shares_a_gain(self.pilot, self.asked.margin) {
            return Err(Undefined("the power of a share of a gain is not planned".to_owned()));
        }
        let mean = statistics.control.mean();
        let (scale, factor) = match self.asked.margin {
            Margin::Relative(_) if mean == 0.0 => return Err(StatsError::ZeroBaseline.into()),
            // A relative limit is a multiple of the control's mean, and so is the control's part of the error.
            Margin::Relative(_) => (mean.abs(), 1.0 + self.pilot.better.gain(threshold) * mean.signum()),
            Margin::Absolute(_) => (1.0, 1.0),
        };
        // Of an interval with two sides, one decides.
        let alpha = if self.asked.claim == Claim::Superior { 0.5 * self.alpha } else { self.alpha };
        let design = |sd_treatment, sd_control| Design { sd_treatment, sd_control, alpha, two_sided: false };
        let differences: Vec<f64> = self.pairs.iter().map(|(t, c)| t - factor * c).collect();
        let paired = crate::stats::Sample::new(differences).and_then(|it| Moments::of(&it));
        Ok(LimitOf {
            threshold,
            scale,
            design: design(statistics.treatment.sd(), statistics.control.sd() * factor.abs()),
            paired: paired.ok().filter(|it| it.sd() > 0.0).map(|it| design(it.sd(), 0.0)),
        })
    }

    fn against(&self, gain: f64, observed: bool) -> Result<Against, Undefined> {
        let limit = self.limit(gain)?;
        let margin = self.asked.margin.value();
        let equivalent = self.asked.claim == Claim::Equivalent;
        let holds = if equivalent { gain.abs() < margin } else { gain > limit.threshold };
        let distance = (gain - limit.threshold) * limit.scale;
        let design = limit.decides(self.is_paired())?;
        // Both of two one-sided tests must succeed to show that there is no difference; one, that there is.
        let both = equivalent && holds;
        let mut power = design.power(distance, self.n, self.n)?.power;
        if both {
            let other = self.limit_at(-limit.threshold)?;
            let far = (gain - other.threshold) * other.scale;
            let design = other.decides(self.is_paired())?;
            power = (power + design.power(far, self.n, self.n)?.power - 1.0).max(0.0);
        }
        // Met together or not at all, as far as both hang on the difference: the rarer one decides.
        let further = if holds { self.further(gain)? } else { Vec::new() };
        for it in &further {
            power = power.min(it.power(self.n)?);
        }
        let least = self.least();
        let needed = |design: &Design| {
            POWERS.map(|power| {
                let each = if both { 0.5 * (1.0 + power) } else { power };
                let own = design.needed_n(distance, each).ok()?;
                further.iter().try_fold(own.max(least), |most, it| Some(most.max(it.needed_n(power)?)))
            })
        };
        let needed_paired = limit.paired.as_ref().map(needed);
        let power = if self.n < least { 0.0 } else { power };
        Ok(Against { gain, observed, holds, power, needed: needed(design), needed_paired })
    }

    /// Whether differences within blocks decide.
    fn is_paired(&self) -> bool {
        self.asked.claim == Claim::Superior && matches!(self.test, Test::PairedT | Test::Wilcoxon)
    }

    /// What has to be met besides the interval at a true gain: the p-value of ranks, and the minimum effect.
    fn further(&self, gain: f64) -> Result<Vec<Further>, Undefined> {
        if self.asked.claim != Claim::Superior {
            return Ok(Vec::new());
        }
        let mut further = Vec::new();
        if matches!(self.test, Test::MannWhitney | Test::Wilcoxon) {
            let zero = self.limit_at(0.0)?;
            let design = *zero.decides(self.is_paired())?;
            further.push(Further::Ranks { design, difference: gain * zero.scale });
        }
        if self.asked.min_effect > 0.0 {
            let statistics = self.statistics()?;
            let sd = statistics.effect.pooled_sd;
            let d = gain * self.limit_at(0.0)?.scale / sd;
            if sd > 0.0 && d.is_finite() {
                further.push(Further::Effect { d, least: self.asked.min_effect });
            }
        }
        Ok(further)
    }

    fn detectable(&self) -> Result<f64, Undefined> {
        let limit = self.limit(1.0)?;
        let power = if self.asked.claim == Claim::Equivalent { 0.5 * (1.0 + POWERS[0]) } else { POWERS[0] };
        if self.n < self.least() {
            return Err(Undefined(format!("the registered test needs {} samples of each arm", self.least())));
        }
        let own = limit.decides(self.is_paired())?.detectable(power, self.n, self.n)? / limit.scale;
        // The gain beyond the margin at which everything else has that power, too.
        let short = |beyond: f64| -> Result<bool, Undefined> {
            let further = self.further(limit.threshold + beyond)?;
            Ok(further.iter().any(|it| it.power(self.n).is_ok_and(|it| it < POWERS[0])))
        };
        if self.asked.claim != Claim::Superior || !short(own)? {
            return Ok(own);
        }
        let (mut low, mut high) = (own, 2.0 * own);
        while short(high)? && high < 1e12 * own {
            high *= 2.0;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if short(middle)? { low = middle } else { high = middle }
        }
        Ok(high)
    }

    /// Fewer samples than this decide nothing: as many as the exact test of ranks needs, where it is registered.
    fn least(&self) -> usize {
        let test = if self.asked.claim == Claim::Superior { self.test } else { Test::Welch };
        let possible = |n: &usize| match test {
            Test::MannWhitney => mann_whitney_smallest_p(*n, *n).is_ok_and(|it| it.value() < self.alpha),
            Test::Wilcoxon => smallest_signed_rank_p(*n) < self.alpha,
            Test::Bootstrap => *n >= super::resampled::LEAST_SAMPLES,
            Test::Welch | Test::PairedT => true,
        };
        (2..10_000).find(possible).unwrap_or(2)
    }
}

impl LimitOf {
    /// The design that decides; paired tests need pairs.
    fn decides(&self, paired: bool) -> Result<&Design, Undefined> {
        let no_pairs =
            || Undefined("the registered test is one of pairs, and the pilot has none that vary".to_owned());
        if paired { self.paired.as_ref().ok_or_else(no_pairs) } else { Ok(&self.design) }
    }
}

/// What has to be met besides the interval.
enum Further {
    /// A p-value of ranks below alpha, for any difference.
    Ranks { design: Design, difference: f64 },
    /// An observed |d| of at least this, where the true one is `d`.
    Effect { d: f64, least: f64 },
}

/// By how much fewer samples a t-test needs than one of ranks for normal samples, 3 / π (Pitman; Lehmann 1975). For other
/// samples ranks need fewer.
const EFFICIENCY: f64 = 3.0 / std::f64::consts::PI;

/// The most samples of an arm that are planned for.
const MOST: usize = 1 << 40;

impl Further {
    /// The chance that `n` samples of each arm meet it.
    fn power(&self, n: usize) -> Result<f64, StatsError> {
        match *self {
            Self::Ranks { design, difference } => {
                let worth = ((n as f64 * EFFICIENCY) as usize).max(2);
                Ok(design.power(difference, worth, worth)?.power)
            }
            Self::Effect { d, least } => {
                // The observed d is a t of as many degrees of freedom, by the root of n / 2.
                let root = (0.5 * n as f64).sqrt();
                Ok(noncentral_t_sf(least * root, 2.0 * n as f64 - 2.0, d * root)?.value)
            }
        }
    }

    /// The smallest n with this power; `None` if none has.
    fn needed_n(&self, power: f64) -> Option<usize> {
        match *self {
            Self::Ranks { design, difference } => {
                let of_t = design.needed_n(difference, power).ok()?;
                Some((of_t as f64 / EFFICIENCY).ceil() as usize)
            }
            // At the minimum itself, half of the experiments fall short of it, whatever their n.
            Self::Effect { d, least } if d <= least => None,
            Self::Effect { .. } => {
                let reaches = |n: usize| self.power(n).is_ok_and(|it| it >= power);
                let (mut low, mut high) = (1, 2);
                while !reaches(high) {
                    (low, high) = (high, 2 * high);
                    if high > MOST {
                        return None;
                    }
                }
                while high - low > 1 {
                    let middle = low + (high - low) / 2;
                    if reaches(middle) { high = middle } else { low = middle }
                }
                Some(high)
            }
        }
    }
}

impl Planned {
    /// The unit of the gain: `%` of a relative margin, or that of the metric.
    pub fn unit(&self) -> &'static str {
        match self.margin {
            Margin::Relative(_) => "%",
            Margin::Absolute(_) => Unit::name(self.pilot.unit),
        }
    }

    /// A gain in [`Planned::unit`].
    pub fn shown(&self, gain: f64) -> f64 {
        match self.margin {
            Margin::Relative(_) => gain * 100.0,
            Margin::Absolute(_) => gain,
        }
    }

    /// The registered limit that a gain has to be told from, as a gain.
    pub fn threshold(&self) -> f64 {
        match self.claim {
            Claim::Superior => self.margin.value(),
            Claim::NonInferior => -self.margin.value(),
            Claim::Equivalent => 0.0,
        }
    }
}
