//! What the samples of a run say: a summary of every arm, a comparison of every pair, and the reservations
//! that belong to them. Pure: from a registration and a stored run, without clock and locale.

mod aside;
mod caveat;
mod checks;
mod comparison;
mod effects;
mod gap;
mod look;
mod pair;
mod samples;
mod scorecard;
mod summary;

pub use aside::{SetAside, set_aside};
pub use caveat::{Caveat, Place};
pub(crate) use checks::is_coarse;
pub use comparison::{Comparison, Gain, Statistics, Undefined};
pub use effects::EffectComparison;
pub use gap::Gap;
pub use look::Stages;
pub use pair::Pair;
pub use samples::Samples;
pub use scorecard::Score;
pub use summary::ArmSummary;

use crate::prereg::{Arm, Contrast, Prereg};
use crate::store::RunData;
use crate::vocab::Role;

/// Everything that is computed from a run before its rule is applied.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Every metric, cell and arm that has samples, in this order, each as registered.
    pub arms: Vec<ArmSummary>,
    /// Every metric and cell of every treatment against every control, whether registered or not, and against every
    /// treatment that the registration names as the control of a contrast.
    pub comparisons: Vec<Comparison>,
    /// Every metric, cell and effect of a factorial.
    pub effects: Vec<EffectComparison>,
    /// Every metric, cell and arm beside the reference arm, if there is one.
    pub scores: Vec<Score>,
    /// Every metric and cell of the sham arm against the control.
    pub sham: Vec<Comparison>,
    /// Samples that the registration asks for and the run does not have.
    pub gaps: Vec<Gap>,
    /// What a reader must know before trusting the numbers.
    pub caveats: Vec<Caveat>,
}

impl Analysis {
    /// What a contrast compares in one metric and cell: two arms, or the sides of an effect.
    pub fn find(&self, metric: &str, cell: &str, contrast: &Contrast) -> Option<&Comparison> {
        // No arm is called as the side of an effect.
        self.comparisons
            .iter()
            .chain(self.effects.iter().map(|it| &it.comparison))
            .find(|it| it.is_of(metric, cell, contrast))
    }
}

/// Analyses a run of `prereg`.
pub fn analyse(prereg: &Prereg, run: &RunData) -> Analysis {
    let measured = Samples::of(run);
    let samples = measured.units(&prereg.design);
    let arms = summary::arms(prereg, &samples);
    let registered = |treatment: &Arm, control: &Arm| {
        let contrasts = prereg.hypotheses.iter().map(|it| &it.contrast);
        contrasts
            .chain(prereg.guards.iter().map(|it| &it.contrast))
            .any(|it| (&it.treatment, &it.control) == (&treatment.name, &control.name))
    };
    let is_control = |treatment: &Arm, it: &Arm| it.role == Role::Control || registered(treatment, it);
    let of_role = |role: Role| {
        let mut comparisons = Vec::new();
        for metric in &prereg.metrics {
            for cell in prereg.cells() {
                for treatment in prereg.arms.iter().filter(|it| it.role == role) {
                    for control in prereg.arms.iter().filter(|it| is_control(treatment, it)) {
                        comparisons.push(comparison::compare(
                            prereg,
                            &samples,
                            metric,
                            &cell,
                            [treatment, control],
                        ));
                    }
                }
            }
        }
        comparisons
    };
    let comparisons = of_role(Role::Treatment);
    let caveats = checks::caveats(prereg, run, &samples, &comparisons);
    let effects = effects::effects(prereg, &samples);
    let scores = scorecard::scores(prereg, &samples);
    Analysis {
        comparisons,
        effects,
        scores,
        sham: of_role(Role::Sham),
        gaps: gap::gaps(prereg, &measured, &set_aside(run)),
        arms,
        caveats,
    }
}
