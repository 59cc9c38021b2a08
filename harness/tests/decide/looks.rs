//! Registered looks: where a cell stops, what it may say there, and that everybody says the same.

use crate::{Set, around, decided, prereg, run, set};
use harness::decide::is_over;
use harness::prereg::Prereg;
use harness::stats::rng::Rng;
use harness::store::SampleSet;
use harness::vocab::{Cell, Finding, Verdict};

const CLAIM: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\nmin_effect = 0\n";

/// A registration with `looks` in its design.
fn text(samples: usize, looks: &str, claims: &str) -> String {
    let params = if claims.contains("where") { "[params]\nsize = [1, 2]\n" } else { "" };
    format!(
        "id = \"demo\"\ntitle = \"Demo\"\nledger = \"demo\"\n[worker]\ncommand = [\"worker\"]\nsystem = \"demo\"\n\
         {params}[arms.a]\nrole = \"control\"\nparams.mode = \"a\"\n[arms.b]\nrole = \"treatment\"\nparams.mode = \"b\"\n\
         [design]\nsamples = {samples}\nlooks = {looks}\n[metrics.time]\nunit = \"ms\"\nbetter = \"lower\"\n\
         [metrics.size]\nunit = \"ms\"\nbetter = \"lower\"\n{claims}"
    )
}

/// Both arms of both metrics; the second metric never differs.
fn arms(a: &[f64], b: &[f64]) -> Vec<Set> {
    let same = around(50.0, 1.0, a.len());
    vec![set("time", "a", a), set("time", "b", b), set("size", "a", &same), set("size", "b", &same)]
}

fn sets(prereg: &Prereg, all: &[Set], blocks: usize) -> Vec<SampleSet> {
    let first = |it: &Set| Set { values: it.values[..blocks].to_vec(), ..set(&it.metric, &it.arm, &[]) };
    run(prereg, &all.iter().map(first).collect::<Vec<_>>()).sets
}

/// Where the runner would stop, which sees one block after the other.
fn stops(prereg: &Prereg, all: &[Set]) -> usize {
    let most = prereg.design.samples as usize;
    (1..=most).find(|it| is_over(prereg, &Cell::default(), &sets(prereg, all, *it), *it as u32)).unwrap()
}

fn cut(all: Vec<Set>, blocks: usize) -> Vec<Set> {
    all.into_iter().map(|it| Set { values: it.values[..blocks].to_vec(), ..it }).collect()
}

fn normal(rng: &mut Rng) -> f64 {
    let uniform = ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    harness::stats::dist::normal_isf(uniform).unwrap()
}

const KINDS: [&str; 3] = [
    "{ at = [20, 40, 60] }",
    "{ at = [20, 40, 60], spending = \"pocock\" }",
    "{ method = \"sign-e-process\", every = 1 }",
];

#[test]
fn a_plain_gain_stops_at_the_first_look_that_can_tell() {
    let all = arms(&around(100.0, 5.0, 60), &around(50.0, 5.0, 60));
    // Eight straight wins are what the signs need.
    for (looks, at) in KINDS.into_iter().zip([20, 20, 8]) {
        let text = text(60, looks, CLAIM);
        assert_eq!(stops(&prereg(&text), &all), at);
        let all = arms(&around(100.0, 5.0, 60), &around(50.0, 5.0, 60));
        let (decision, analysis) = decided(&text, &cut(all, at));
        assert_eq!(decision.verdict, Verdict::Accept, "{:?}", decision.reasons);
        assert_eq!(decision.looks[0].stopped().unwrap().1 as usize, at);
        let interval = decision.hypotheses[0].gain.as_ref().unwrap().interval;
        assert_eq!(interval.level, 0.95);
        assert!(analysis.caveats.iter().any(|it| it.code() == "stopped-early"));
        assert!(
            decision.criteria.iter().any(|it| it.name() == "looks" && it.result.contains("of 60 blocks"))
        );
    }
}

#[test]
fn without_a_gain_it_goes_to_the_end_and_stays_undecided() {
    let same = arms(&around(100.0, 5.0, 60), &around(100.0, 5.0, 60));
    for looks in KINDS {
        let text = text(60, looks, CLAIM);
        assert_eq!(stops(&prereg(&text), &same), 60);
        let (decision, analysis) = decided(&text, &same);
        assert_eq!(decision.verdict, Verdict::Inconclusive, "{:?}", decision.reasons);
        assert!(!analysis.caveats.iter().any(|it| it.code() == "stopped-early"));
        assert!(decision.looks[0].sentence().contains("went to its last look"));
    }
}

#[test]
fn a_loss_stops_as_well() {
    let all = arms(&around(100.0, 5.0, 60), &around(150.0, 5.0, 60));
    for (looks, at) in KINDS.into_iter().zip([20, 20, 8]) {
        let text = text(60, looks, CLAIM);
        assert_eq!(stops(&prereg(&text), &all), at);
        let all = arms(&around(100.0, 5.0, 60), &around(150.0, 5.0, 60));
        assert_eq!(decided(&text, &cut(all, at)).0.verdict, Verdict::Reject);
    }
}

/// A gain alone is no reason to stop while the guard is still open.
#[test]
fn guards_are_to_be_held_at_the_stop() {
    let claims = format!("{CLAIM}[[guards]]\nmetric = \"size\"\nmargin = 0.02\n");
    let mut rng = Rng::new(5);
    let mut noisy = |mean: f64| -> Vec<f64> { (0..60).map(|_| mean + 2.5 * normal(&mut rng)).collect() };
    let (time_a, time_b) = (around(100.0, 5.0, 60), around(50.0, 5.0, 60));
    let sets = [
        set("time", "a", &time_a),
        set("time", "b", &time_b),
        set("size", "a", &noisy(50.0)),
        set("size", "b", &noisy(50.0)),
    ];
    let alone = prereg(&text(60, KINDS[0], CLAIM));
    let guarded = prereg(&text(60, KINDS[0], &claims));
    assert_eq!(stops(&alone, &sets), 20);
    assert!(stops(&guarded, &sets) > 20);
}

/// A run that went on after all was decided, or ended where it was not, cannot be trusted.
#[test]
fn blocks_that_the_rule_does_not_ask_for_are_invalid() {
    let text = text(60, KINDS[0], CLAIM);
    let clear = || arms(&around(100.0, 5.0, 60), &around(50.0, 5.0, 60));
    let same = || arms(&around(100.0, 5.0, 60), &around(100.0, 5.0, 60));
    for (sets, reason) in [
        (cut(clear(), 40), "40 blocks were measured, but all was decided after 20"),
        (clear(), "60 blocks were measured, but all was decided after 20"),
        (cut(same(), 20), "it ended after 20 blocks, a look at which the rule goes on"),
        (cut(same(), 33), "33 of 40 samples"),
    ] {
        let (decision, _) = decided(&text, &sets);
        assert_eq!(decision.verdict, Verdict::Invalid);
        assert!(decision.reasons.join("\n").contains(reason), "{:?}", decision.reasons);
    }
}

/// Every cell stops for itself, each hypothesis with its share of alpha.
#[test]
fn cells_stop_by_themselves() {
    let claims = "[[hypotheses]]\nid = \"one\"\nmetric = \"time\"\nwhere = { size = 1 }\nmin_effect = 0\n\
                  [[hypotheses]]\nid = \"two\"\nmetric = \"time\"\nwhere = { size = 2 }\nmin_effect = 0\n";
    let text = text(60, KINDS[1], claims);
    let in_cell = |cell: &str, all: Vec<Set>| {
        all.into_iter().map(move |it| Set { cell: cell.into(), ..it }).collect::<Vec<_>>()
    };
    let clear = in_cell("size=1", cut(arms(&around(100.0, 5.0, 60), &around(50.0, 5.0, 60)), 20));
    let same = in_cell("size=2", arms(&around(100.0, 5.0, 60), &around(100.0, 5.0, 60)));
    let sets: Vec<Set> = clear.into_iter().chain(same).collect();
    let (decision, _) = decided(&text, &sets);
    assert_eq!(decision.verdict, Verdict::Inconclusive, "{:?}", decision.reasons);
    let findings: Vec<_> = decision.hypotheses.iter().map(|it| it.finding).collect();
    assert_eq!(findings, [Finding::Supported, Finding::Undecided]);
    let stopped: Vec<_> = decision.looks.iter().map(|it| it.stopped().unwrap().1).collect();
    assert_eq!(stopped, [20, 60]);
}

/// p is below alpha exactly where the interval that decides excludes zero, and z is beyond its boundary.
#[test]
fn p_interval_and_boundary_agree_at_every_look() {
    let mut counted = [0; 2];
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut arm = |mean: f64| -> Vec<f64> { (0..60).map(|_| mean + 10.0 * normal(&mut rng)).collect() };
        let sets = vec![
            set("time", "a", &arm(100.0)),
            set("time", "b", &arm(95.0)),
            set("size", "a", &arm(9.0)),
            set("size", "b", &arm(9.0)),
        ];
        for looks in &KINDS[..2] {
            let text = text(60, looks, CLAIM);
            let absolute = text.replace("min_effect = 0", "min_effect = 0\nmargin = { absolute = 0.0 }");
            let at = stops(&prereg(&absolute), &sets);
            let all: Vec<Set> = sets.iter().map(|it| set(&it.metric, &it.arm, &it.values[..at])).collect();
            let (decision, _) = decided(&absolute, &all);
            for look in &decision.looks[0].looks {
                let judged = &look.judged[0];
                let position = judged.position.unwrap();
                let beyond = position.observed.unwrap().abs() >= position.boundary.unwrap();
                let significant = judged.p_adjusted.as_ref().unwrap().value() < 0.05;
                let excluded = !judged.gain.as_ref().unwrap().interval.contains(0.0);
                assert!(significant == excluded && beyond == excluded, "{seed} {looks} {}", look.blocks);
                counted[usize::from(excluded)] += 1;
            }
        }
    }
    assert!(counted.iter().all(|it| *it > 15), "{counted:?}");
}

/// With a single look at the end, everything is as without looks.
#[test]
fn one_look_is_the_fixed_design() {
    let sets = || arms(&around(100.0, 20.0, 30), &around(90.0, 20.0, 30));
    let looked = decided(&text(30, "{ at = [30] }", CLAIM), &sets()).0;
    let fixed = decided(&text(30, "{ at = [30] }", CLAIM).replace("looks = { at = [30] }\n", ""), &sets()).0;
    assert_eq!(looked.verdict, fixed.verdict);
    let [a, b] = [&looked.hypotheses[0], &fixed.hypotheses[0]];
    assert_eq!(a.p_adjusted, b.p_adjusted);
    let [a, b] = [a, b].map(|it| *it.gain.as_ref().unwrap());
    assert!((a.interval.lower - b.interval.lower).abs() < 1e-9, "{a:?} {b:?}");
    assert!(fixed.looks.is_empty());
}

#[test]
fn the_signs_need_no_mean_and_refuse_shares_of_zero() {
    let mut b = around(50.0, 5.0, 60);
    b[3] = 1e12;
    let text = text(60, KINDS[2], CLAIM);
    let at = stops(&prereg(&text), &arms(&around(100.0, 5.0, 60), &b));
    assert!((9..20).contains(&at), "{at}");
    let mut a = around(100.0, 5.0, 60);
    a[0] = 0.0;
    let relative = text.replace("min_effect = 0", "min_effect = 0\nmargin = 0.1");
    let (decision, _) = decided(&relative, &arms(&a, &around(50.0, 5.0, 60)));
    assert_eq!(decision.verdict, Verdict::Inconclusive);
    assert!(decision.reasons[0].contains("of which there is no share"), "{:?}", decision.reasons);
}

/// Under no difference a false support is as rare as half of alpha, whatever the looks.
#[test]
fn looks_keep_the_error_rate() {
    for looks in [KINDS[0], KINDS[1], "{ method = \"sign-e-process\", every = 10 }"] {
        let prereg = prereg(&text(60, looks, CLAIM));
        let mut supported = 0;
        for seed in 0..100 {
            let mut rng = Rng::stream(77, seed);
            let mut arm = || -> Vec<f64> { (0..60).map(|_| (normal(&mut rng)).exp()).collect() };
            let sets = vec![
                set("time", "a", &arm()),
                set("time", "b", &arm()),
                set("size", "a", &[1.0; 60]),
                set("size", "b", &[1.0; 60]),
            ];
            let stops = prereg.design.stops();
            let all = run(&prereg, &sets).sets;
            let at =
                stops.into_iter().find(|it| is_over(&prereg, &Cell::default(), &all, *it)).unwrap() as usize;
            let (decision, _) = decided(&text(60, looks, CLAIM), &cut(sets, at));
            supported += u32::from(decision.hypotheses[0].finding == Finding::Supported);
        }
        // 2.5 % and four standard errors.
        assert!(supported <= 8, "{looks}: {supported} of 100");
    }
}
