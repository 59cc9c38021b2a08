use super::judge::Rule;
use crate::analyse::{Comparison, Pair};
use crate::prereg::Prereg;
use crate::stats::{Panel, PanelAnswer, PanelOptions, Says, panel};
use crate::vocab::{Claim, Digest, Direction};
use std::sync::{Arc, OnceLock};

/// What methods with different assumptions say of one hypothesis, computed when it is first asked for.
///
/// Each is asked whether there is a difference, at the registered alpha; the seed follows from the registered one, the
/// hypothesis and the cell, so that the same samples always give the same answers.
#[derive(Clone, Debug)]
pub struct Robustness {
    samples: Option<Arc<Pair>>,
    options: PanelOptions,
    claim: Claim,
    better: Direction,
    /// The direction of the means: above zero where the treatment's is greater.
    difference: f64,
    panel: OnceLock<Option<Panel>>,
}

impl Robustness {
    pub(super) fn of(prereg: &Prereg, rule: &Rule<'_>, comparison: &Comparison) -> Self {
        Self {
            samples: comparison.samples.clone(),
            options: PanelOptions {
                alpha: prereg.decision.alpha,
                seed: seed(prereg, rule, comparison),
                paired: comparison.samples.as_ref().is_some_and(|it| it.by_block),
                ..PanelOptions::default()
            },
            claim: rule.claim,
            better: comparison.better,
            difference: comparison.statistics.as_ref().map_or(0.0, |it| it.welch.difference),
            panel: OnceLock::new(),
        }
    }

    /// The answers; `None` if an arm has no samples.
    pub fn panel(&self) -> Option<&Panel> {
        let ask = || {
            let pair = self.samples.as_ref()?;
            panel(&pair.treatment, &pair.control, self.options).ok()
        };
        self.panel.get_or_init(ask).as_ref()
    }

    /// What the claim expects of each method.
    pub fn claimed(&self) -> &'static str {
        match self.claim {
            Claim::Superior => "the treatment is better",
            Claim::NonInferior => "the treatment is not worse",
            Claim::Equivalent => "no difference, or that of the means",
        }
    }

    /// How many methods say what is claimed, and how many have an answer at all.
    pub fn agreement(&self) -> (usize, usize) {
        let answers = || self.answers().filter(|it| !matches!(it.says, Says::Undefined(_)));
        (answers().filter(|it| self.agrees(it.says)).count(), answers().count())
    }

    /// Whether there are answers and all of them say what is claimed.
    pub fn is_full(&self) -> bool {
        let (agree, of) = self.agreement();
        of > 0 && agree == of
    }

    /// An answer in the words of the claim.
    pub fn word(&self, says: Says) -> String {
        match says {
            Says::NoDifference => "no difference".to_owned(),
            Says::Undefined(reason) => format!("undefined: {reason}"),
            says if says == self.better_is() => "better".to_owned(),
            _ => "worse".to_owned(),
        }
    }

    /// Why a panel that does not agree in full supports nothing.
    pub(super) fn disagreement(&self) -> String {
        let (agree, of) = self.agreement();
        let others: Vec<String> = self
            .answers()
            .filter(|it| !matches!(it.says, Says::Undefined(_)) && !self.agrees(it.says))
            .map(|it| format!("{} says {}", it.label, self.word(it.says)))
            .collect();
        let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        format!("the rule asks that the robustness panel agree, and {agree} of {of} methods do{others}")
    }

    fn answers(&self) -> impl Iterator<Item = &PanelAnswer> {
        self.panel().into_iter().flat_map(|it| &it.answers)
    }

    fn agrees(&self, says: Says) -> bool {
        match self.claim {
            Claim::Superior => says == self.better_is(),
            Claim::NonInferior => says == Says::NoDifference || says == self.better_is(),
            Claim::Equivalent => match says {
                Says::Less => self.difference < 0.0,
                Says::Greater => self.difference > 0.0,
                Says::NoDifference | Says::Undefined(_) => true,
            },
        }
    }

    fn better_is(&self) -> Says {
        match self.better {
            Direction::Lower => Says::Less,
            Direction::Higher => Says::Greater,
        }
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
