//! Whether the n that is planned for 80 % power decides in 80 % of experiments.

use super::decisions::{EQUIVALENT, GUARD, MARGIN, SUPERIOR, arms, found};
use super::door::{decided, registration};
use super::parallel;
use super::shape::Shape;
use super::table::{Entry, Table, error};
use harness::stats::Design;
use harness::stats::rng::Rng;
use harness::vocab::Finding;

const POWER: f64 = 0.8;
const SHAPES: [Shape; 4] = [Shape::Normal, Shape::LogNormal, Shape::T3, Shape::Ar1];

/// Samples of a pilot, and the most that are measured after one.
const PILOT: usize = 10;
const MOST: usize = 400;

/// A claim with a truth on its right side.
struct Plan {
    name: &'static str,
    claims: &'static str,
    /// The treatment's true mean; the control's is 100, and the deviation 5.
    mean: f64,
    /// The limit of the claim, as a multiple of the control's mean.
    limit: f64,
    two_sided: bool,
    power: f64,
}

/// Both tests of equivalence must succeed, so that each is planned with 90 %.
const PLANS: &[Plan] = &[
    Plan {
        name: "superior, true gain 4 %: supported",
        claims: SUPERIOR,
        mean: 96.0,
        limit: 1.0,
        two_sided: true,
        power: POWER,
    },
    Plan {
        name: "superior by 20 %, true gain 23 %: supported",
        claims: MARGIN,
        mean: 77.0,
        limit: 0.8,
        two_sided: true,
        power: POWER,
    },
    Plan {
        name: "guard of 5 %, true loss 2 %: held",
        claims: GUARD,
        mean: 102.0,
        limit: 1.05,
        two_sided: false,
        power: POWER,
    },
    Plan {
        name: "equivalent within 5 %, no difference: supported",
        claims: EQUIVALENT,
        mean: 100.0,
        limit: 1.05,
        two_sided: false,
        power: 0.5 * (1.0 + POWER),
    },
];

const ADVISED: &str = "superior, true gain 4 %, n advised by an undecided run of 10: decided";

/// The share of experiments that decide with the planned n.
pub(super) fn table(runs: usize) -> Table {
    let mut rows = Vec::new();
    for (index, plan) in PLANS.iter().enumerate() {
        let design = Design {
            sd_treatment: 5.0,
            sd_control: 5.0 * plan.limit,
            alpha: 0.05,
            two_sided: plan.two_sided,
        };
        let difference = plan.mean - 100.0 * plan.limit;
        let n = design.needed_n(difference, plan.power).expect("a feasible n");
        let prereg = registration(n, 1, false, plan.claims);
        let mut entries = vec![Entry::Count(n)];
        entries.extend(SHAPES.map(|shape| {
            let decisions = parallel::map(runs, |run| {
                let arms = arms(shape, &mut Rng::stream(200 + index as u64, run as u64), n, plan.mean, false);
                Some(found(&decided(&prereg, arms)) == Some(Finding::Supported))
            });
            Entry::of(decisions.into_iter())
        }));
        rows.push((plan.name.to_owned(), entries));
    }
    let mut entries = vec![Entry::Nothing];
    entries.extend(
        SHAPES.map(|shape| Entry::of(parallel::map(runs.div_ceil(4), |run| advised(shape, run)).into_iter())),
    );
    rows.push((ADVISED.to_owned(), entries));
    let names = ["claim, truth: result", "n"].into_iter().chain(SHAPES.map(Shape::name));
    Table {
        title: format!(
            "Experiments that decide with the n planned for 80 % power, in % (standard error ± {} points)",
            error(POWER, runs)
        ),
        columns: names.map(str::to_owned).collect(),
        rows,
    }
}

/// Whether an experiment of the n that an undecided one advises decides; nothing if the first one did.
fn advised(shape: Shape, run: usize) -> Option<bool> {
    let mut rng = Rng::stream(5, run as u64);
    let mut decision = |n: usize| {
        let arms = arms(shape, &mut rng, n, 96.0, false);
        decided(&registration(n, 1, false, SUPERIOR), arms)
    };
    let needed = decision(PILOT).hypotheses[0].outlook?.needed_n;
    let again = decision(needed.map_or(MOST, |n| n.min(MOST)));
    Some(found(&again) != Some(Finding::Undecided))
}
