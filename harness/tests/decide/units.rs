//! The unit of replication comes from the registration: n counts it, and nothing below it.

use super::{decided, registration, time};
use harness::decide::Judged;
use harness::vocab::{Finding, Verdict};

const FASTER: &str = "[[hypotheses]]\nid = \"faster\"\nmetric = \"time\"\n";

/// 4 processes of 5 samples: what a process happens to be moves its samples by up to 10 ms, a sample by 1 µs. The treatment's
/// processes happen to be 2 ms better, which is within what processes are.
fn processes() -> [Vec<f64>; 2] {
    let arm = |shifts: [f64; 4]| -> Vec<f64> {
        shifts
            .iter()
            .flat_map(|shift| (0..5).map(move |i| 100.0 + shift + 0.001 * f64::from(i % 3)))
            .collect()
    };
    [arm([0.0, 4.0, 9.0, 3.0]), arm([5.0, 0.0, 1.0, 2.0])]
}

#[test]
fn what_blocks_seem_to_show_processes_do_not() {
    let [a, b] = processes();
    let lower = |it: &Judged| it.gain.as_ref().unwrap().interval.lower;
    // As if all 20 samples were independent, the difference of 2 ms is clear; only their dependence gives it away.
    let (decision, _) = decided(&registration(20, FASTER), &time(&a, &b));
    assert!(lower(&decision.hypotheses[0]) > 0.0);
    let claims = format!("[design]\nsamples = 20\nprocesses = 4\n{FASTER}");
    let (decision, analysis) = decided(&registration(20, &claims), &time(&a, &b));
    assert_eq!(decision.verdict, Verdict::Inconclusive, "{:?}", decision.reasons);
    assert!(analysis.gaps.is_empty());
    let [judged] = decision.hypotheses.as_slice() else { panic!("one hypothesis") };
    assert!(lower(judged) < 0.0);
    let statistics = judged.comparison.statistics.as_ref().unwrap();
    assert_eq!((statistics.treatment.n(), statistics.control.n()), (4, 4));
    // Means and Welch's t of four process means each: 104.0008 against 102.0008, by hand.
    assert!((statistics.control.mean() - 104.0008).abs() < 1e-9, "{}", statistics.control.mean());
    assert!((statistics.treatment.mean() - 102.0008).abs() < 1e-9);
    // Variances 14 and 14/3, so t = -2 / sqrt((14 + 14/3) / 4).
    let t = statistics.welch.test.unwrap().t;
    assert!((t + 2.0 / (14.0_f64 * 4.0 / 3.0 / 4.0).sqrt()).abs() < 1e-9, "{t}");
    let row = decision.criteria.iter().find(|it| it.name() == "unit of replication").unwrap();
    assert_eq!(row.result, "the process: n = 4 means of 5 samples each");
    assert_eq!(row.finding, Finding::Supported);
}

/// Processes of equal weight: their means have the mean of all samples, and a block test of them has pairs.
#[test]
fn pairs_are_processes_that_were_measured_together() {
    let [a, b] = processes();
    let claims = format!("[design]\nsamples = 20\nprocesses = 4\n{FASTER}[decision]\ntest = \"paired-t\"\n");
    let (decision, _) = decided(&registration(20, &claims), &time(&a, &b));
    let tested = decision.hypotheses[0].tested.as_ref().unwrap();
    assert_eq!(tested.df, Some(3.0));
}

#[test]
fn builds_are_decided_by_their_means_and_told_when_they_differ_by_more_than_the_arms() {
    let [a, b] = processes();
    let claims = format!("[design]\nsamples = 20\nbuilds = 4\n{FASTER}");
    let text = registration(20, &claims).replace("command = [\"worker\"]", "package = \"worker\"");
    let (decision, analysis) = decided(&text, &time(&a, &b));
    let [judged] = decision.hypotheses.as_slice() else { panic!("one hypothesis") };
    assert_eq!(judged.comparison.statistics.as_ref().unwrap().control.n(), 4);
    let row = decision.criteria.iter().find(|it| it.name() == "unit of replication").unwrap();
    assert_eq!(row.result, "the build: n = 4 means of 5 samples each");
    // Means of the builds of a from 100.0008 to 109.0008; of the arms 2 ms apart, of 104.0008.
    let told: Vec<_> = analysis.caveats.iter().filter(|it| it.code() == "builds-differ").collect();
    let expected = "`time` of arm `a`: its builds lie 8.65 % apart, more than the 1.92 % to arm `b`: the order of linking alone \
                    makes such a difference";
    assert_eq!(told.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    // Arms farther apart than their builds are not.
    let far: Vec<f64> = b.iter().map(|it| it / 2.0).collect();
    let (_, analysis) = decided(&text, &time(&a, &far));
    assert!(analysis.caveats.iter().all(|it| it.code() != "builds-differ"));
}

#[test]
fn a_process_without_all_its_samples_is_a_gap() {
    let [a, b] = processes();
    let claims = format!("[design]\nsamples = 20\nprocesses = 4\n{FASTER}");
    let (decision, analysis) = decided(&registration(20, &claims), &time(&a, &b[..19]));
    assert_eq!(decision.verdict, Verdict::Invalid);
    assert_eq!((analysis.gaps.len(), analysis.gaps[0].found, analysis.gaps[0].registered), (1, 19, 20));
}
