use super::criterion::Criterion;
use super::judge::{self, Judged, Kind};
use super::sham::{self, ShamCheck};
use crate::analyse::{Analysis, Statistics};
use crate::prereg::Prereg;
use crate::store::RunData;
use crate::vocab::{Claim, Finding, Margin, RunState, Test, Verdict};
use std::collections::BTreeMap;

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
    /// Every check of the sham arm.
    pub sham: Vec<ShamCheck>,
}

/// Decides a run of `prereg` by its rule.
pub fn decide(prereg: &Prereg, run: &RunData, analysis: &Analysis) -> Decision {
    let hypotheses = judge::hypotheses(prereg, analysis);
    let guards = judge::guards(prereg, analysis);
    let sham: Vec<ShamCheck> = analysis.sham.iter().map(|it| sham::check(prereg, it)).collect();
    let invalid = invalidity(run, analysis, &sham);
    let mut criteria: Vec<Criterion> =
        hypotheses.iter().chain(&guards).flat_map(|it| criteria(prereg, it)).collect();
    criteria.extend(integrity(analysis, &sham, run));
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
    Decision { verdict, reasons, criteria, hypotheses, guards, sham }
}

/// Why the run cannot be trusted; empty if it can.
fn invalidity(run: &RunData, analysis: &Analysis, sham: &[ShamCheck]) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(event) = run.events.last()
        && event.state == RunState::Failed
    {
        let reason = event.detail.as_ref().and_then(|it| it.get("reason")).and_then(|it| it.as_str());
        reasons.push(reason.unwrap_or("the run failed").to_owned());
    }
    if let Some(gap) = analysis.gaps.first() {
        let more = match analysis.gaps.len() {
            1 => String::new(),
            n => format!(", and {} sets more are incomplete", n - 1),
        };
        reasons.push(format!("samples are missing: {gap}{more}"));
    }
    reasons.extend(unequal_results(run));
    reasons.extend(sham.iter().filter(|it| it.decisive && !it.passed).map(|it| format!("sham: {it}")));
    reasons
}

/// Cells in which two arms gave different results.
fn unequal_results(run: &RunData) -> Vec<String> {
    let mut first: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut unequal = Vec::new();
    for it in run.cells.iter().filter(|it| !it.result.is_empty()) {
        let (arm, result) = *first.entry(&it.cell).or_insert((&it.arm, &it.result));
        if result != it.result {
            let place = if it.cell.is_empty() { String::new() } else { format!(" at {}", it.cell) };
            unequal.push(format!("arms `{arm}` and `{}` give different results{place}", it.arm));
        }
    }
    unequal
}

fn criteria(prereg: &Prereg, judged: &Judged) -> Vec<Criterion> {
    let name = judged.name();
    let part = |ok: Option<bool>| match ok {
        Some(true) => Finding::Supported,
        Some(false) => Finding::Refuted,
        None => Finding::Undecided,
    };
    let gain = Criterion {
        name: format!("{name}: gain"),
        threshold: judged.threshold(),
        result: judged.gain_text(),
        finding: match (&judged.gain, judged.claim) {
            (Ok(gain), Claim::Superior) => part(if gain.interval.lower > judged.margin.value() {
                Some(true)
            } else if gain.interval.upper < judged.margin.value() {
                Some(false)
            } else {
                None
            }),
            _ => judged.finding,
        },
    };
    let mut criteria = vec![gain];
    let alpha = prereg.decision.alpha;
    let test = match (judged.claim, prereg.decision.test) {
        (Claim::Superior, Test::MannWhitney) => "Mann-Whitney",
        (Claim::Superior, _) => "Welch",
        _ => "within the margin, Welch",
    };
    let p = judged.p_adjusted.as_ref().ok();
    criteria.push(Criterion {
        name: format!("{name}: p ({test})"),
        threshold: format!("< {alpha}"),
        result: match &judged.p_adjusted {
            Ok(p) => p.to_string(),
            Err(undefined) => undefined.to_string(),
        },
        finding: part(p.filter(|it| it.value() < alpha).map(|_| true)),
    });
    if judged.kind == Kind::Hypothesis && judged.min_effect > 0.0 {
        let d = judged.comparison.statistics.as_ref().map_err(Clone::clone).and_then(Statistics::cohens_d);
        criteria.push(Criterion {
            name: format!("{name}: |d|"),
            threshold: format!("≥ {}", judged.min_effect),
            finding: part(d.as_ref().ok().filter(|it| it.abs() >= judged.min_effect).map(|_| true)),
            result: match d {
                Ok(d) => format!("{:.2}", d.abs()),
                Err(undefined) => undefined.to_string(),
            },
        });
    }
    criteria
}

fn integrity(analysis: &Analysis, sham: &[ShamCheck], run: &RunData) -> Vec<Criterion> {
    let pass = |ok| if ok { Finding::Supported } else { Finding::Refuted };
    let gaps = analysis.gaps.len();
    let mut criteria = vec![Criterion {
        name: "samples".to_owned(),
        threshold: "complete".to_owned(),
        result: if gaps == 0 { "complete".to_owned() } else { format!("{gaps} sets incomplete") },
        finding: pass(gaps == 0),
    }];
    let unequal = unequal_results(run).len();
    if run.cells.iter().any(|it| !it.result.is_empty()) {
        criteria.push(Criterion {
            name: "results of the work".to_owned(),
            threshold: "equal in all arms".to_owned(),
            result: if unequal == 0 { "equal".to_owned() } else { "different".to_owned() },
            finding: pass(unequal == 0),
        });
    }
    let decisive: Vec<_> = sham.iter().filter(|it| it.decisive).collect();
    if !decisive.is_empty() {
        let failed = decisive.iter().filter(|it| !it.passed).count();
        criteria.push(Criterion {
            name: "sham against control".to_owned(),
            threshold: "no difference beyond noise".to_owned(),
            result: format!("{} of {} agree", decisive.len() - failed, decisive.len()),
            finding: pass(failed == 0),
        });
    }
    criteria
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
        let margin = match self.margin {
            Margin::Relative(_) => self.margin.to_string(),
            Margin::Absolute(_) => format!("{} {}", self.margin, self.comparison.unit),
        };
        match self.claim {
            Claim::Superior => format!("> {margin}"),
            Claim::NonInferior => format!("> −{margin}"),
            Claim::Equivalent => format!("within ±{margin}"),
        }
    }

    /// The gain and its interval: `+98.0 % [+97.9, +98.1]`.
    pub fn gain_text(&self) -> String {
        match (&self.gain, self.margin) {
            (Ok(gain), Margin::Relative(margin))
                if margin != 0.0 || self.comparison.relative_gain(0.95).is_ok() =>
            {
                let percent = |it: f64| signed(it * 100.0);
                let (low, high) = (percent(gain.interval.lower), percent(gain.interval.upper));
                format!("{} % [{low}, {high}]", percent(gain.value))
            }
            (Ok(gain), _) => {
                let unit = self.comparison.unit;
                let (low, high) = (signed(gain.interval.lower), signed(gain.interval.upper));
                format!("{} {unit} [{low}, {high}]", signed(gain.value))
            }
            (Err(undefined), _) => undefined.to_string(),
        }
    }

    /// The finding in one sentence, with what would decide.
    pub fn sentence(&self) -> String {
        let mut sentence = format!(
            "{}: {} (gain {}, asked for {})",
            self.name(),
            self.reason,
            self.gain_text(),
            self.threshold()
        );
        if let Some(outlook) = self.outlook {
            let detectable = match self.margin {
                Margin::Relative(_) => format!("{:.2} %", outlook.detectable * 100.0),
                Margin::Absolute(_) => {
                    format!("{} {}", crate::vocab::significant(outlook.detectable, 3), self.comparison.unit)
                }
            };
            sentence.push_str(&format!("; this n shows {detectable} beyond the margin with 80 % power"));
            sentence.push_str(&match outlook.needed_n {
                Some(n) => format!(", and {n} samples of each arm would decide"),
                None => ", and no feasible n would decide a gain so close to the margin".to_owned(),
            });
        }
        sentence
    }
}

/// A number with its sign and as many digits as a reader can use.
fn signed(value: f64) -> String {
    let decimals = match value.abs() {
        0.0..10.0 => 2,
        10.0..1000.0 => 1,
        _ => 0,
    };
    // The values near 100 % are those that readers compare most closely.
    let decimals = if (90.0..100.0).contains(&value.abs()) { 3 } else { decimals };
    format!("{value:+.decimals$}").replace('-', "−")
}
