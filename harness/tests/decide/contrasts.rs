//! Which arms are compared with which.

use super::{around, decided, registration, set};
use harness::vocab::{Finding, Verdict};

const THIRD: &str = "[arms.c]\nrole = \"treatment\"\nparams.mode = \"c\"\n";

/// One switch is tried while another one is on: the control of this contrast is itself a treatment.
#[test]
fn a_treatment_can_be_the_control_of_a_contrast() {
    let claims = format!(
        "{THIRD}[[hypotheses]]\nid = \"on-top\"\nmetric = \"time\"\ntreatment = \"c\"\ncontrol = \"b\"\nmargin = 0.05\n"
    );
    let sets = |c: f64| {
        [("a", 100.0), ("b", 90.0), ("c", c)].map(|(arm, mean)| set("time", arm, &around(mean, 1.0, 20)))
    };
    let (decision, analysis) = decided(&registration(20, &claims), &sets(80.0));
    assert_eq!(decision.hypotheses.len(), 1, "a registered hypothesis is judged");
    assert_eq!((decision.verdict, decision.hypotheses[0].finding), (Verdict::Accept, Finding::Supported));
    assert_eq!(decision.hypotheses[0].comparison.control, "b");
    // Both treatments against the control, and the registered one besides.
    assert_eq!(analysis.comparisons.len(), 3);
    let (decision, _) = decided(&registration(20, &claims), &sets(90.0));
    assert_eq!(decision.verdict, Verdict::Reject);
}
