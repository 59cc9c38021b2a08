//! What stands beside a family: what chance would do, and what all cells come to. Neither decides.

use super::{Set, around, decided, prereg, registration, set};
use harness::decide::{Family, document};
use harness::vocab::{Correction, Verdict};

const CELLS: &str = "[params]\nk = [1, 2, 3, 4]\n[[hypotheses]]\nid = \"faster\"\nmetric = \"time\"\n";

/// Both arms in each cell; the treatment's mean by cell.
fn cells(means: [f64; 4]) -> Vec<Set> {
    let pair = |(k, mean): (usize, f64)| {
        [("a", 100.0), ("b", mean)].map(|(arm, mean)| Set {
            cell: format!("k={}", k + 1),
            ..set("time", arm, &around(mean, 1.0, 20))
        })
    };
    means.into_iter().enumerate().flat_map(pair).collect()
}

#[test]
fn a_family_says_what_chance_alone_would_do() {
    // One difference that no correction takes away, one of p = 0.02, and two of none.
    let (decision, analysis) = decided(&registration(20, CELLS), &cells([90.0, 99.535, 100.0, 100.0]));
    let raw: Vec<f64> = decision.hypotheses.iter().map(|it| it.tested.as_ref().unwrap().p.value()).collect();
    assert!(raw[0] < 1e-9 && (0.017..0.024).contains(&raw[1]) && raw[2] > 0.9, "{raw:?}");
    let family = decision.family.unwrap();
    let expected = Family {
        size: 4,
        alpha: 0.05,
        correction: Correction::Holm,
        alone: 2,
        // 3 × 0.02 is above 0.05.
        corrected: 1,
        // 4 / 2 × 0.02 is below.
        discoveries: 2,
    };
    assert_eq!(family, expected);
    assert_eq!((family.by_chance(), family.false_discoveries()), (0.2, 0.1));
    let document = document(&prereg(&registration(20, CELLS)), &decision, &analysis);
    assert_eq!(document["family"]["expected_false"]["alone"], 0.2);
    assert_eq!(document["family"]["below_alpha"]["bh"], 2);
    assert_eq!(document["overall"][0]["cells"], 4);
}

#[test]
fn cells_come_to_the_geometric_mean_of_their_ratios() {
    let (decision, _) = decided(&registration(20, CELLS), &cells([50.0, 200.0, 81.0, 100.0]));
    let [overall] = decision.overall.as_slice() else { panic!("{:?}", decision.overall) };
    assert_eq!((overall.treatment.as_str(), overall.control.as_str(), overall.cells), ("b", "a", 4));
    let gain = overall.gain.as_ref().unwrap();
    // Lower is better, and the fourth root of 0.5 × 2 × 0.81 × 1 is 0.949.
    let expected = 1.0 - 0.81_f64.powf(0.25);
    assert!((gain.value - expected).abs() < 0.002, "{gain:?}");
    let interval = gain.interval;
    assert!(interval.lower < gain.value && gain.value < interval.upper && interval.level == 0.95);
    // The verdict is that of the cells, not of their mean.
    assert_eq!(decision.verdict, Verdict::Reject);
}

#[test]
fn what_has_no_mean_says_why_and_a_single_hypothesis_is_no_family() {
    let mut short = cells([90.0; 4]);
    for set in short.iter_mut().filter(|it| it.cell == "k=4") {
        set.values.pop();
    }
    let (decision, _) = decided(&registration(20, CELLS), &short);
    let reason = decision.overall[0].gain.as_ref().unwrap_err();
    assert_eq!(reason.0, "the cells do not have equally many blocks");

    let one = "[[hypotheses]]\nid = \"faster\"\nmetric = \"time\"\n";
    let sets = [set("time", "a", &around(100.0, 1.0, 20)), set("time", "b", &around(90.0, 1.0, 20))];
    let (decision, analysis) = decided(&registration(20, one), &sets);
    assert!(decision.family.is_none() && decision.overall.is_empty());
    let document = document(&prereg(&registration(20, one)), &decision, &analysis);
    assert!(document.get("family").is_none() && document.get("overall").is_none());
}
