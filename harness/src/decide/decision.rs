use super::criterion::{Criterion, subject};
use super::effects::{self, Effects};
use super::family::{Family, family};
use super::floor;
use super::judge::{self, Judged, Kind, shares_a_gain};
use super::label;
use super::looks::{self, CellLooks};
use super::method::{Method, is_fact};
use super::overall::{Overall, overall};
use super::robustness;
use super::sham::{self, ShamCheck};
use crate::analyse::{Analysis, Comparison, Gain, Statistics};
use crate::prereg::{Prereg, Thresholds};
use crate::store::{RunData, SampleSet};
use crate::vocab::{
    Agreement, Claim, Correction, Finding, Margin, Nature, Replicate, Role, RunState, Unit, Verdict, minus,
    significant, with_interval,
};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// What a run says of an experiment: the verdict and all that leads to it.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, each in one sentence; empty for an ACCEPT.
    pub reasons: Vec<String>,
    /// The table that leads to it.
    pub criteria: Vec<Criterion>,
    /// Every hypothesis in every cell.
    pub hypotheses: Vec<Judged>,
    /// Every guard in every cell.
    pub guards: Vec<Judged>,
    /// What chance alone would do to the hypotheses; `None` unless there are several.
    pub family: Option<Family>,
    /// What is claimed of two arms in several cells, in one number each.
    pub overall: Vec<Overall>,
    /// Every effect of a factorial, registered or not.
    pub effects: Vec<Effects>,
    /// Every check of the sham arm.
    pub sham: Vec<ShamCheck>,
    /// Every look at every cell; empty where none are registered.
    pub looks: Vec<CellLooks>,
    /// The calibration of the host that it took into account.
    pub calibration: Option<Uuid>,
}

/// Decides a run of `prereg` by its rule.
pub fn decide(prereg: &Prereg, run: &RunData, analysis: &Analysis) -> Decision {
    let mut hypotheses = judge::hypotheses(prereg, analysis);
    let calibration = floor::calibration(run);
    if let Some(it) = &calibration {
        floor::apply(it, &mut hypotheses);
    }
    let guards = judge::guards(prereg, analysis);
    let sham: Vec<ShamCheck> = analysis.sham.iter().map(|it| sham::check(prereg, it)).collect();
    let looks = looks::replay(prereg, &run.sets);
    let mut invalid = invalidity(prereg, run, analysis, &sham);
    invalid.extend(looks.iter().filter_map(CellLooks::problem));
    let mut criteria: Vec<Criterion> =
        hypotheses.iter().chain(&guards).flat_map(|it| criteria(prereg, it, hypotheses.len())).collect();
    criteria.extend(calibration.iter().flat_map(|it| floor::criteria(it, &hypotheses)));
    criteria.extend(integrity(prereg, analysis, &sham, run));
    criteria.extend(looks.iter().map(looked));
    let all = || hypotheses.iter().chain(&guards);
    let refuted: Vec<String> =
        all().filter(|it| it.finding == Finding::Refuted).map(Judged::sentence).collect();
    let undecided: Vec<String> =
        all().filter(|it| it.finding == Finding::Undecided).map(Judged::sentence).collect();
    let (verdict, reasons) = if !invalid.is_empty() {
        (Verdict::Invalid, invalid)
    } else if hypotheses.is_empty() && guards.is_empty() {
        (Verdict::Recorded, Vec::new())
    } else if !refuted.is_empty() {
        (Verdict::Reject, refuted)
    } else if !undecided.is_empty() {
        (Verdict::Inconclusive, undecided)
    } else {
        (Verdict::Accept, Vec::new())
    };
    let effects = effects::effects(prereg, analysis);
    Decision {
        verdict,
        reasons,
        criteria,
        family: family(prereg, &hypotheses),
        overall: overall(&hypotheses, 1.0 - prereg.decision.alpha),
        hypotheses,
        guards,
        effects,
        sham,
        looks,
        calibration: calibration.map(|it| it.id),
    }
}

impl Decision {
    /// The criteria, followed by a line for the robustness panel of each hypothesis, which is computed for it.
    pub fn table(&self, prereg: &Prereg) -> Vec<Criterion> {
        robustness::ask(self.hypotheses.iter().filter_map(|it| it.robustness.as_ref()));
        let panel = |it: &Judged| {
            let robustness = it.robustness.as_ref()?;
            let (agree, of) = robustness.agreement();
            Some(Criterion {
                subject: subject(it),
                quantity: "robustness".to_owned(),
                threshold: match prereg.decision.agreement {
                    Agreement::Report => "all methods, reported only".to_owned(),
                    Agreement::Require => "all methods".to_owned(),
                },
                result: format!("{agree} of {of} agree"),
                finding: if robustness.is_full() { Finding::Supported } else { Finding::Undecided },
            })
        };
        self.criteria.iter().cloned().chain(self.hypotheses.iter().filter_map(panel)).collect()
    }
}

/// Why the run cannot be trusted; empty if it can.
fn invalidity(prereg: &Prereg, run: &RunData, analysis: &Analysis, sham: &[ShamCheck]) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(event) = run.events.iter().max_by_key(|it| it.seq)
        && event.state == RunState::Failed
    {
        let reason = event.detail.as_ref().and_then(|it| it.get("reason")).and_then(|it| it.as_str());
        reasons.push(reason.unwrap_or("the run failed").to_owned());
    }
    if let Some(gap) = analysis.gaps.first() {
        let more = match analysis.gaps.len() {
            1 => String::new(),
            2 => ", and 1 more set of samples is not as registered".to_owned(),
            n => format!(", and {} more sets of samples are not as registered", n - 1),
        };
        reasons.push(format!("the samples are not those registered: {gap}{more}"));
    }
    reasons.extend(wrong_units(prereg, run));
    reasons.extend(unequal_results(prereg, run));
    reasons.extend(varying(prereg, run));
    reasons.extend(sham.iter().filter(|it| it.decisive && !it.passed).map(|it| format!("sham: {it}")));
    reasons
}

/// Cells in which two arms gave different results, or one of them gave none.
fn unequal_results(prereg: &Prereg, run: &RunData) -> Vec<String> {
    let mut unequal = Vec::new();
    for cell in prereg.cells().iter().map(ToString::to_string) {
        let result = |arm: &str| {
            let found = run.cells.iter().find(|it| it.cell == cell && it.arm == arm);
            found.map_or("", |it| it.result.as_str())
        };
        let arms = prereg.arms.iter().filter(|it| it.role != Role::Null);
        let results: Vec<_> = arms.map(|it| (&it.name, result(&it.name))).collect();
        let Some((first, expected)) = results.iter().find(|(_, it)| !it.is_empty()) else { continue };
        let place = if cell.is_empty() { String::new() } else { format!(" at {cell}") };
        for (arm, result) in results.iter().filter(|(_, it)| it != expected) {
            unequal.push(if result.is_empty() {
                format!("arm `{arm}` does not say what its work resulted in, arm `{first}` does{place}")
            } else {
                format!("arms `{first}` and `{arm}` give different results{place}")
            });
        }
    }
    unequal
}

/// Exact metrics that did not repeat themselves in an arm and cell.
fn varying(prereg: &Prereg, run: &RunData) -> Vec<String> {
    let mut varying = Vec::new();
    for metric in prereg.metrics.iter().filter(|it| it.nature == Nature::Exact) {
        // The first value of each arm and cell, in the order of the run.
        let mut first = BTreeMap::new();
        let mut told = BTreeSet::new();
        for set in run.sets.iter().filter(|it| !it.warmup && it.metric == metric.name) {
            let key = (&set.cell, &set.arm);
            for value in &set.values {
                let expected = *first.entry(key).or_insert(*value);
                if *value != expected && told.insert(key) {
                    let place = if set.cell.is_empty() { String::new() } else { format!(" at {}", set.cell) };
                    varying.push(format!(
                        "`{}` is registered as exact, but arm `{}`{place} has {} and {}",
                        metric.name,
                        set.arm,
                        metric.unit.show(expected),
                        metric.unit.show(*value),
                    ));
                }
            }
        }
    }
    varying
}

/// Samples in another unit than the registered one.
fn wrong_units(prereg: &Prereg, run: &RunData) -> Vec<String> {
    let wrong = |set: &&SampleSet| {
        prereg.metric(&set.metric).is_some_and(|it| Unit::parse(&set.unit).ok() != Some(it.unit))
    };
    let sets = run.sets.iter().filter(wrong);
    let found: BTreeSet<_> = sets.map(|it| (&it.metric, &it.unit)).collect();
    found
        .into_iter()
        .map(|(metric, unit)| {
            format!("samples of `{metric}` are in `{unit}`, which is not its registered unit")
        })
        .collect()
}

fn criteria(prereg: &Prereg, judged: &Judged, family: usize) -> Vec<Criterion> {
    let part = |ok: Option<bool>| match ok {
        Some(true) => Finding::Supported,
        Some(false) => Finding::Refuted,
        None => Finding::Undecided,
    };
    let gain = Criterion {
        subject: subject(judged),
        quantity: "gain".to_owned(),
        threshold: judged.threshold(),
        result: judged.gain_text(),
        finding: match (&judged.gain, judged.claim) {
            (Ok(gain), Claim::Superior) => part(if gain.interval.lower > judged.margin.value() {
                Some(true)
            } else if judged.finding == Finding::Refuted {
                Some(false)
            } else {
                None
            }),
            _ => judged.finding,
        },
    };
    let mut criteria = vec![gain];
    let alpha = prereg.decision.alpha;
    let p = judged.p_adjusted.as_ref().ok();
    let alone = judged.kind == Kind::Guard || family == 1 || prereg.decision.correction == Correction::None;
    let adjusted = if alone { "" } else { "adjusted " };
    // Of the sign e-process, every p is one that may be looked at.
    let looked = judged.position.is_some() && judged.method != Method::SignEProcess;
    let repeated = if looked { "repeated " } else { "" };
    if is_fact(prereg, &judged.comparison, judged.method) {
        // A fact needs no chance to be compared with, and no spread.
        return criteria;
    }
    criteria.push(Criterion {
        subject: subject(judged),
        quantity: format!("{adjusted}{repeated}p ({})", judged.method),
        threshold: format!("< {alpha}"),
        result: match &judged.p_adjusted {
            Ok(p) => minus(p.to_string()),
            Err(undefined) => undefined.to_string(),
        },
        finding: part(p.filter(|it| it.value() < alpha).map(|_| true)),
    });
    if judged.kind == Kind::Hypothesis && judged.min_effect > 0.0 {
        let d = judged.comparison.statistics.as_ref().map_err(Clone::clone).and_then(Statistics::cohens_d);
        let differ = judged.gain.as_ref().is_ok_and(|it| it.value != 0.0);
        let constants = judged.method == Method::Constant && judged.tested.is_ok() && differ;
        criteria.push(Criterion {
            subject: subject(judged),
            quantity: "|d|".to_owned(),
            threshold: format!("≥ {}", judged.min_effect),
            finding: match &d {
                Ok(d) => part(Some(d.abs() >= judged.min_effect).filter(|it| *it)),
                Err(_) => part(Some(constants).filter(|it| *it)),
            },
            result: match d {
                Ok(d) => significant(d.abs(), 3),
                Err(_) if constants => "beyond every number: neither arm varies".to_owned(),
                Err(undefined) => undefined.to_string(),
            },
        });
    }
    if let Some(thresholds) = &prereg.decision.thresholds {
        criteria.extend(for_labels(judged, thresholds));
    }
    criteria
}

/// What STRONG GO and NEUTRAL ask of a gain; the latter only where it matters.
fn for_labels(judged: &Judged, thresholds: &Thresholds) -> Vec<Criterion> {
    let share = |it: f64| Margin::Relative(it).to_string();
    let line = |label: &str, threshold: String, finding: Finding| Criterion {
        subject: subject(judged),
        quantity: format!("gain, for {label}"),
        threshold,
        result: judged.gain_text(),
        finding,
    };
    let strong = label::strong(judged, thresholds)
        .map(|it| line("STRONG GO", format!("> {}", share(thresholds.strong_go)), it));
    let neutral = label::neutral(judged, thresholds)
        .filter(|_| judged.finding != Finding::Supported)
        .map(|it| line("NEUTRAL", format!("within ±{}", share(thresholds.neutral)), it));
    strong.into_iter().chain(neutral).collect()
}

fn integrity(prereg: &Prereg, analysis: &Analysis, sham: &[ShamCheck], run: &RunData) -> Vec<Criterion> {
    let pass = |ok| if ok { Finding::Supported } else { Finding::Refuted };
    let gaps = analysis.gaps.len();
    let mut criteria = vec![Criterion {
        subject: None,
        quantity: "samples".to_owned(),
        threshold: "as many as registered".to_owned(),
        result: match gaps {
            0 => "complete".to_owned(),
            1 => "1 set is not".to_owned(),
            n => format!("{n} sets are not"),
        },
        finding: pass(gaps == 0),
    }];
    let design = &prereg.design;
    if design.unit() != Replicate::Block {
        criteria.push(Criterion {
            subject: None,
            quantity: "unit of replication".to_owned(),
            threshold: "as registered".to_owned(),
            result: format!(
                "the {}: n = {} means of {} samples each",
                design.unit(),
                design.units(),
                design.samples / design.units(),
            ),
            finding: pass(gaps == 0),
        });
    }
    let unequal = unequal_results(prereg, run).len();
    if run.cells.iter().any(|it| !it.result.is_empty()) {
        criteria.push(Criterion {
            subject: None,
            quantity: "results of the work".to_owned(),
            threshold: "equal in all arms".to_owned(),
            result: if unequal == 0 { "equal".to_owned() } else { "not equal".to_owned() },
            finding: pass(unequal == 0),
        });
    }
    if prereg.metrics.iter().any(|it| it.nature == Nature::Exact) {
        let ok = varying(prereg, run).is_empty();
        criteria.push(Criterion {
            subject: None,
            quantity: "exact metrics".to_owned(),
            threshold: "equal on every repetition".to_owned(),
            result: if ok { "equal".to_owned() } else { "not equal".to_owned() },
            finding: pass(ok),
        });
    }
    let decisive: Vec<_> = sham.iter().filter(|it| it.decisive).collect();
    if !decisive.is_empty() {
        let failed = decisive.iter().filter(|it| !it.passed).count();
        criteria.push(Criterion {
            subject: None,
            quantity: "sham against control".to_owned(),
            threshold: "no difference beyond noise".to_owned(),
            result: format!("{} of {} agree", decisive.len() - failed, decisive.len()),
            finding: pass(failed == 0),
        });
    }
    criteria
}

/// Where a cell stopped.
fn looked(looks: &CellLooks) -> Criterion {
    let place = if looks.cell.is_empty() { String::new() } else { format!(" at {}", looks.cell) };
    let after = match looks.planned.as_slice() {
        few @ ([_] | [_, _] | [_, _, _] | [_, _, _, _]) => {
            few.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
        }
        [first, second, .., last] => format!("{first}, {second}, … {last}"),
        [] => String::new(),
    };
    Criterion {
        subject: None,
        quantity: format!("looks{place}"),
        threshold: format!("after {after} blocks, until all is decided"),
        result: looks.sentence(),
        finding: match (looks.problem(), looks.stopped()) {
            (Some(_), _) => Finding::Refuted,
            (None, Some(_)) => Finding::Supported,
            (None, None) => Finding::Undecided,
        },
    }
}

impl Judged {
    /// `open-1m`, `guard bulk_lookup at terms=1000`.
    pub fn name(&self) -> String {
        let prefix = match self.kind {
            Kind::Hypothesis => "",
            Kind::Guard => "guard ",
        };
        let place = if self.comparison.cell.is_empty() {
            String::new()
        } else {
            format!(" at {}", self.comparison.cell)
        };
        format!("{prefix}{}{place}", self.id)
    }

    /// What the gain must be: `> 50 %`, `> −5 %`, `within ±2 %`.
    pub fn threshold(&self) -> String {
        threshold_text(&self.comparison, self.claim, self.margin)
    }

    /// The gain and its interval: `+97.969 % [+97.944, +97.993]`.
    pub fn gain_text(&self) -> String {
        match &self.gain {
            Ok(gain) => gain_text(gain, self.counted, self.comparison.unit),
            Err(undefined) => undefined.to_string(),
        }
    }

    /// What was found of a claim or a guard, in a word.
    pub fn finding_word(&self) -> &'static str {
        match (self.kind, self.finding) {
            (Kind::Hypothesis, Finding::Supported) => "supported",
            (Kind::Hypothesis, Finding::Refuted) => "refuted",
            (Kind::Guard, Finding::Supported) => "held",
            (Kind::Guard, Finding::Refuted) => "violated",
            (_, Finding::Undecided) => "undecided",
        }
    }

    /// The finding in one sentence, and in another one what would decide.
    pub fn sentence(&self) -> String {
        let mut sentence = format!(
            "{} is {}: {}; its gain is {}, asked for is {}.",
            self.name(),
            self.finding_word(),
            self.reason,
            self.gain_text(),
            self.threshold()
        );
        if let Some(outlook) = self.outlook {
            let detectable = match self.counted {
                Margin::Relative(_) => {
                    format!("{} percentage points", significant(outlook.detectable * 100.0, 3))
                }
                Margin::Absolute(_) => {
                    format!("{} {}", significant(outlook.detectable, 3), self.comparison.unit)
                }
            };
            sentence.push_str(&format!(
                " With this n, a true gain that lies {detectable} from the margin is decided with 80 % power; "
            ));
            sentence.push_str(&match outlook.needed_n {
                Some(n) => format!("if the gain is what it seems to be, {n} samples of each arm are needed."),
                None => "the gain found lies so close to the margin that no feasible n decides.".to_owned(),
            });
        }
        sentence
    }
}

/// What a gain must be, in the words of a reader.
pub(super) fn threshold_text(comparison: &Comparison, claim: Claim, margin: Margin) -> String {
    let text = match margin {
        Margin::Relative(_) => margin.to_string(),
        Margin::Absolute(_) => format!("{margin} {}", comparison.unit),
    };
    let margin =
        if shares_a_gain(comparison, margin) { format!("{text} of the expected gain") } else { text };
    match claim {
        Claim::Superior => format!("> {margin}"),
        Claim::NonInferior => format!("> −{margin}"),
        Claim::Equivalent => format!("within ±{margin}"),
    }
}

/// A gain and its interval in the words of a reader.
pub fn gain_text(gain: &Gain, counted: Margin, unit: Unit) -> String {
    let (factor, unit) = match counted {
        Margin::Relative(_) => (100.0, "%"),
        Margin::Absolute(_) => (1.0, unit.name()),
    };
    let [value, low, high] =
        with_interval(gain.value * factor, gain.interval.lower * factor, gain.interval.upper * factor);
    let unit = if unit == "1" { String::new() } else { format!(" {unit}") };
    format!("{value}{unit} [{low}, {high}]")
}
