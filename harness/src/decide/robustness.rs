use super::decision::threshold_text;
use super::judge::Rule;
use crate::analyse::{Comparison, Pair};
use crate::prereg::Prereg;
use crate::stats::panel::{Null, Reason};
use crate::stats::{Panel, PanelAnswer, PanelOptions, Says, panel};
use crate::vocab::{Claim, Digest, Direction, Margin};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

/// What methods with different assumptions say of one hypothesis, computed when it is first asked for.
///
/// Each is asked for the registered claim, against its margin and in its direction, at the registered alpha; the seed follows from
/// the registered one, the hypothesis and the cell, so that the same samples always give the same answers.
#[derive(Clone, Debug)]
pub struct Robustness {
    samples: Option<Arc<Pair>>,
    /// One for each limit of the claim.
    questions: Vec<PanelOptions>,
    claim: Claim,
    margin: Margin,
    /// The margin in words.
    threshold: String,
    better: Direction,
    alpha: f64,
    panels: OnceLock<Option<Vec<Panel>>>,
}

/// What a method says of the claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Vote {
    /// It holds, significantly.
    Supports,
    /// It does not hold, significantly.
    Contradicts,
    /// Neither.
    Open,
    /// The method has no answer, for a reason.
    Undefined(Reason),
}

impl Vote {
    /// A word for machines.
    pub fn code(self) -> &'static str {
        match self {
            Self::Supports => "supports",
            Self::Contradicts => "contradicts",
            Self::Open => "open",
            Self::Undefined(_) => "undefined",
        }
    }
}

/// Asks all panels that were not asked yet, on as many threads as the machine runs at once. Each has a seed of its own, so
/// that the order makes no difference.
pub(super) fn ask<'a>(all: impl Iterator<Item = &'a Robustness>) {
    let waiting: Vec<&Robustness> = all.filter(|it| it.panels.get().is_none()).collect();
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(waiting.len());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(it) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
            it.panels();
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
}

impl Robustness {
    pub(super) fn of(prereg: &Prereg, rule: &Rule<'_>, comparison: &Comparison, counted: Margin) -> Self {
        let margin = rule.margin.value();
        // One-sided claims have twice the alpha, as their intervals do.
        let (limits, sides) = match rule.claim {
            Claim::Superior => (vec![margin], 1.0),
            Claim::NonInferior => (vec![-margin], 2.0),
            Claim::Equivalent => (vec![-margin, margin], 2.0),
        };
        let alpha = prereg.decision.alpha;
        let ask = |limit: f64| PanelOptions {
            alpha: (sides * alpha).min(0.999),
            seed: seed(prereg, rule, comparison),
            paired: comparison.samples.as_ref().is_some_and(|it| it.by_block),
            null: null(comparison, counted, limit),
            ..PanelOptions::default()
        };
        Self {
            samples: comparison.samples.clone(),
            questions: limits.into_iter().map(ask).collect(),
            claim: rule.claim,
            margin: counted,
            threshold: threshold_text(comparison, rule.claim, counted),
            better: comparison.better,
            alpha,
            panels: OnceLock::new(),
        }
    }

    fn panels(&self) -> &[Panel] {
        let ask = || {
            let pair = self.samples.as_ref()?;
            self.questions.iter().map(|it| panel(&pair.treatment, &pair.control, *it).ok()).collect()
        };
        self.panels.get_or_init(ask).as_deref().unwrap_or_default()
    }

    /// The answers, against the first limit of the claim; `None` if an arm has no samples.
    pub fn panel(&self) -> Option<&Panel> {
        self.panels().first()
    }

    /// Each method with what it says of the claim.
    pub fn votes(&self) -> Vec<(&PanelAnswer, Vote)> {
        let panels = self.panels();
        let Some(first) = panels.first() else { return Vec::new() };
        let vote =
            |(index, answer): (usize, _)| (answer, self.vote(panels.iter().map(|it| it.answers[index].says)));
        first.answers.iter().enumerate().map(vote).collect()
    }

    /// What the claim expects of each method.
    pub fn claimed(&self) -> String {
        match self.claim {
            Claim::Superior if self.margin.value() == 0.0 => "the treatment is better".to_owned(),
            _ => format!("the gain is {}", self.threshold),
        }
    }

    /// The error rate at which each method is asked: the registered one, of one side where the claim has only one.
    pub fn level(&self) -> String {
        match self.claim {
            Claim::Superior => format!("α = {}", self.alpha),
            Claim::NonInferior | Claim::Equivalent => format!("α = {}, one-sided", self.alpha),
        }
    }

    /// How many methods say what is claimed, and how many have an answer at all.
    pub fn agreement(&self) -> (usize, usize) {
        let votes = self.votes();
        let count = |is: fn(Vote) -> bool| votes.iter().filter(|(_, it)| is(*it)).count();
        (count(|it| it == Vote::Supports), count(|it| !matches!(it, Vote::Undefined(_))))
    }

    /// Whether there are answers and all of them say what is claimed.
    pub fn is_full(&self) -> bool {
        let (agree, of) = self.agreement();
        of > 0 && agree == of
    }

    /// An answer in the words of the claim.
    pub fn word(&self, vote: Vote) -> String {
        let difference = self.claim == Claim::Superior && self.margin.value() == 0.0;
        match vote {
            Vote::Undefined(reason) => format!("undefined: {reason}"),
            Vote::Supports if difference => "better".to_owned(),
            Vote::Contradicts if difference => "worse".to_owned(),
            Vote::Open if difference => "no difference".to_owned(),
            Vote::Supports => "holds".to_owned(),
            Vote::Contradicts => "does not hold".to_owned(),
            Vote::Open => "undecided".to_owned(),
        }
    }

    /// Why a panel that does not agree in full supports nothing.
    pub(super) fn disagreement(&self) -> String {
        let (agree, of) = self.agreement();
        let others: Vec<String> = self
            .votes()
            .into_iter()
            .filter(|(_, vote)| matches!(vote, Vote::Contradicts | Vote::Open))
            .map(|(it, vote)| format!("{} says {}", it.label, self.word(vote)))
            .collect();
        let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        format!("the rule asks that the robustness panel agree, and {agree} of {of} methods do{others}")
    }

    /// The claim holds if the gain lies above its limit, and of "equivalent" above the first and below the second.
    fn vote(&self, says: impl Iterator<Item = Says>) -> Vote {
        let (mut holds, mut fails) = (true, false);
        for (index, says) in says.enumerate() {
            let above = match says {
                Says::Undefined(reason) => return Vote::Undefined(reason),
                Says::NoDifference => {
                    holds = false;
                    continue;
                }
                says => (says == self.better_is()) == (index == 0),
            };
            holds &= above;
            fails |= !above;
        }
        match (holds, fails) {
            (true, _) => Vote::Supports,
            (_, true) => Vote::Contradicts,
            _ => Vote::Open,
        }
    }

    fn better_is(&self) -> Says {
        match self.better {
            Direction::Lower => Says::Less,
            Direction::Higher => Says::Greater,
        }
    }
}

/// The treatment of a gain that lies on its limit.
fn null(comparison: &Comparison, counted: Margin, limit: f64) -> Null {
    let limit = comparison.better.gain(limit);
    match counted {
        // A share of the control's magnitude.
        Margin::Relative(_) => Null::Change(limit * comparison.control_sign().unwrap_or(1.0)),
        Margin::Absolute(_) => Null::Difference(limit),
    }
}

/// The seed of everything that is resampled for a hypothesis in a cell.
pub(super) fn seed(prereg: &Prereg, rule: &Rule<'_>, comparison: &Comparison) -> u64 {
    let text = format!("{}\n{}\n{}", prereg.design.seed, rule.id, comparison.cell);
    let digest = Digest::of(text).to_string();
    digest
        .bytes()
        .take(16)
        .fold(0, |seed, digit| seed << 4 | u64::from(char::from(digit).to_digit(16).unwrap_or(0)))
}
