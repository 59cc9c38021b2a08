//! Pre-registrations that are valid, of every shape.

use harness::prereg::*;
use harness::vocab::*;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeMap;
use std::time::Duration;

fn text() -> impl Strategy<Value = String> {
    // `\PC` is everything but control characters; quotes and backslashes more often than by chance.
    prop_oneof![Just("a \"quoted\" \\ name".to_owned()), "\\PC{0,12}", "[a-z]{1,9}"]
        .prop_filter("no control characters", |it| !it.chars().any(char::is_control))
}

fn filled() -> impl Strategy<Value = String> {
    text().prop_map(|it| format!("x{it}"))
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![-1e3..1e3, Just(0.0), Just(1e300), Just(0.1 + 0.2), Just(5e-324)]
}

/// Values of one kind that differ.
fn values() -> impl Strategy<Value = Vec<Scalar>> {
    prop_oneof![
        any::<bool>().prop_map(|it| vec![Scalar::Bool(it)]),
        Just(vec![Scalar::Bool(true), Scalar::Bool(false)]),
        btree_set(any::<i64>(), 1..4).prop_map(|it| it.into_iter().map(Scalar::Int).collect()),
        btree_set(0_i32..9, 1..4)
            .prop_map(|it| it.into_iter().map(|n| Scalar::Float(f64::from(n) / 3.0)).collect()),
        float().prop_map(|it| vec![Scalar::Float(it)]),
        text().prop_map(|it| vec![Scalar::Text(it)]),
        btree_set("[a-z\"\\\\ #]{0,5}", 1..4).prop_map(|it| it.into_iter().map(Scalar::Text).collect()),
    ]
}

fn margin(claim: Claim) -> impl Strategy<Value = Margin> {
    let least = if claim == Claim::Superior { 0.0 } else { 1e-9 };
    prop_oneof![(least..0.99).prop_map(Margin::Relative), (least..1e6).prop_map(Margin::Absolute)]
}

fn arms() -> impl Strategy<Value = Vec<Arm>> {
    let own = btree_map("[a-zA-Z]{3,8}", values().prop_map(|it| it[0].clone()), 0..3);
    let env = btree_map("[A-Z_][A-Z0-9_]{0,5}", text(), 0..3);
    let arm = (own, env, option::of(vec(filled(), 1..3)));
    (btree_map("[a-z0-9][a-z0-9._-]{0,8}", arm, 2..5), any::<bool>()).prop_map(|(arms, sham)| {
        let roles = [Role::Control, Role::Treatment, Role::Null, Role::Treatment];
        let mut arms: Vec<_> = arms
            .into_iter()
            .zip(roles)
            .enumerate()
            .map(|(i, ((name, (own, env, command)), role))| {
                // No two arms are the same; the name is not one that is swept.
                let own: BTreeMap<_, _> =
                    own.into_iter().chain([("N".to_owned(), Scalar::Int(i as i64))]).collect();
                let git = (i == 1).then(|| "v1.2".to_owned());
                let build = command.is_some().then(|| vec!["make".to_owned(), "-j2".to_owned()]);
                let (params, env) = (own.into_iter().collect(), env.into_iter().collect());
                Arm { name, role, params, env, command, git, build }
            })
            .collect();
        if sham {
            let copy = Arm { name: "zz-sham-of-control".into(), role: Role::Sham, ..arms[0].clone() };
            arms.insert(1, copy);
        }
        arms
    })
}

fn metrics() -> impl Strategy<Value = Vec<Metric>> {
    let unit = select(Unit::known().collect::<Vec<_>>()).prop_map(|it| Unit::parse(it).unwrap());
    btree_map("[a-z][a-z0-9_]{0,8}", (unit, select(Direction::ALL)), 1..4).prop_map(|it| {
        it.into_iter()
            .rev()
            .map(|(name, (unit, better))| Metric {
                name,
                unit,
                better,
                probe: None,
                nature: Nature::Measured,
            })
            .collect()
    })
}

fn design() -> impl Strategy<Value = Design> {
    let seed = 0..=u64::try_from(i64::MAX).unwrap();
    let counts = (0_u32..50, 2_u32..300, 1_u32..4, 1_u32..4);
    (counts, select(Order::ALL), select(Process::ALL), select(Clock::ALL), seed).prop_map(
        |((warmups, each, slices, processes), order, process, clock, seed)| {
            let slices = if order == Order::Sequential { 1 } else { slices };
            let processes = if process == Process::PerBlock { 1 } else { processes };
            let samples = each * processes;
            let mode = Mode::Turns;
            let padding = warmups * 7;
            Design {
                warmups,
                samples,
                order,
                mode,
                process,
                clock,
                seed,
                slices,
                processes,
                builds: 1,
                padding,
                looks: None,
            }
        },
    )
}

fn package() -> impl Strategy<Value = Package> {
    let name = || "[a-z][a-z0-9_-]{0,8}";
    let features = btree_set(name(), 0..3);
    (name(), features, option::of(name())).prop_map(|(name, features, profile)| Package {
        name,
        features: features.into_iter().collect(),
        profile,
    })
}

fn worker() -> impl Strategy<Value = Worker> {
    let launch =
        prop_oneof![package().prop_map(Launch::Package), vec(filled(), 1..4).prop_map(Launch::Command),];
    let timeout = prop_oneof![1_u64..100_000, (1_u64..1000).prop_map(|it| it * 1000)];
    (launch, filled(), timeout).prop_map(|(launch, system, timeout)| Worker {
        launch,
        system,
        timeout: Duration::from_millis(timeout),
    })
}

fn rule() -> impl Strategy<Value = Rule> {
    let tests = select(&[Test::Welch, Test::MannWhitney][..]);
    (0.0001..0.5, tests, select(Correction::ALL), 0.0..1.0).prop_map(
        |(alpha, test, correction, noise_margin)| Rule {
            alpha,
            test,
            correction,
            agreement: Agreement::Report,
            labels: Labels::AcceptReject,
            thresholds: None,
            noise_margin,
        },
    )
}

/// What is said of a metric, before the metric, its cells and its arms are chosen.
type Saying = (bool, Claim, Margin, f64, Index, Vec<Index>);

fn sayings() -> impl Strategy<Value = Vec<Saying>> {
    let saying = select(Claim::ALL).prop_flat_map(|claim| {
        let arms = any::<Index>();
        (any::<bool>(), Just(claim), margin(claim), 0.0..2.0, arms, vec(any::<Index>(), 0..3))
    });
    vec(saying, 0..4)
}

fn environment() -> impl Strategy<Value = Environment> {
    let share = || option::of(0.0..=1.0);
    let cores = btree_set(0_u32..64, 1..4).prop_map(|it| Pin::Cores(it.into_iter().collect()));
    let pin = option::of(prop_oneof![Just(Pin::One), cores]);
    let blocks =
        (0.1..9.0, share(), share(), select(Then::ALL)).prop_map(|(load, max_steal, max_pressure, then)| {
            BlockRule { max_load: Some(load), max_steal, max_pressure, then }
        });
    let limits = (option::of(0.1..99.0), share(), share());
    (limits, option::of("[a-z]{1,9}"), pin, option::of(blocks)).prop_map(|(limits, governor, pin, blocks)| {
        let (max_load, max_steal, max_pressure) = limits;
        Environment { max_load, max_steal, max_pressure, governor, pin, blocks }
    })
}

/// Any pre-registration that is valid.
pub(crate) fn prereg() -> impl Strategy<Value = Prereg> {
    let words = (
        "[a-z0-9][a-z0-9._-]{0,20}",
        filled(),
        "[a-z0-9-]{1,9}".prop_filter("a letter first", |it| !it.starts_with('-')),
        any::<i64>(),
        text(),
        vec(filled(), 0..3),
        option::of("[a-z0-9]{1,9}"),
    );
    let params = btree_map("[a-z]{1,2}", values(), 0..4);
    let parts = (worker(), params, arms(), design(), metrics(), sayings(), rule());
    (words, parts, environment()).prop_map(|(words, parts, mut environment)| {
        let (id, title, ledger, order, claim, changes, baseline) = words;
        let (worker, params, arms, design, metrics, sayings, decision) = parts;
        let params: Vec<_> = params.into_iter().collect();
        let (hypotheses, guards) = said(sayings, &params, &arms, &metrics);
        // Without blocks, none can be excluded.
        if let Some(rule) = environment
            .blocks
            .as_mut()
            .filter(|_| design.order == Order::Sequential || design.looks.is_some())
        {
            rule.then = Then::Remeasure;
        }
        // No experiment is its own baseline.
        let baseline = baseline.filter(|it| *it != id);
        Prereg {
            id,
            title,
            ledger,
            order,
            claim,
            changes,
            baseline,
            worker,
            params,
            factors: None,
            arms,
            design,
            metrics,
            hypotheses,
            guards,
            decision,
            environment,
            reference: None,
        }
    })
}

/// Each saying is about a metric of its own, so that no guard repeats a hypothesis.
fn said(
    sayings: Vec<Saying>,
    params: &[(String, Vec<Scalar>)],
    arms: &[Arm],
    metrics: &[Metric],
) -> (Vec<Hypothesis>, Vec<Guard>) {
    let (mut hypotheses, mut guards) = (Vec::new(), Vec::new());
    let treatments: Vec<_> = arms.iter().filter(|it| it.role == Role::Treatment).collect();
    for (i, (metric, saying)) in metrics.iter().zip(sayings).enumerate() {
        let (guard, claim, margin, effect, arm, values) = saying;
        let condition = params
            .iter()
            .filter(|(_, all)| all.len() > 1)
            .zip(&values)
            .map(|((name, all), at)| (name.clone(), at.get(all).clone()))
            .collect();
        let treatment = arm.get(&treatments).name.clone();
        let contrast = Contrast { treatment, control: arms[0].name.clone() };
        let metric = metric.name.clone();
        if guard && margin.value() > 0.0 {
            guards.push(Guard { metric, condition, contrast, margin });
        } else {
            let min_effect = if claim == Claim::Superior { effect } else { 0.0 };
            let id = format!("h{i}");
            let effect = None;
            hypotheses.push(Hypothesis {
                id,
                metric,
                condition,
                contrast,
                effect,
                claim,
                margin,
                min_effect,
            });
        }
    }
    (hypotheses, guards)
}
