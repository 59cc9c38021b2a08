//! What other methods say, and what follows from it.

use super::{around, check, decided, registration, set, time};
use harness::analyse::analyse;
use harness::decide::document;
use harness::stats::Says;
use harness::vocab::Verdict::{Accept, Inconclusive, Reject};

const H: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\nmin_effect = 0\n";
const REQUIRE: &str = "[decision]\nagreement = \"require\"\n";

/// Arms that differ in their means, by samples of the control that lie far out.
fn by_outliers() -> Vec<super::Set> {
    let mut a = around(100.0, 2.0, 40);
    for it in a.iter_mut().step_by(5) {
        *it += 25.0;
    }
    time(&a, &around(100.0, 2.0, 40))
}

#[test]
fn a_panel_that_agrees_changes_nothing() {
    let sets = time(&around(100.0, 2.0, 20), &around(90.0, 2.0, 20));
    let d = check(&format!("{H}{REQUIRE}"), &sets, Accept, "s", "");
    let robustness = d.hypotheses[0].robustness.as_ref().unwrap();
    let (agree, of) = robustness.agreement();
    assert!(agree == of && of >= 9, "{:#?}", robustness.panel());
    // Brunner and Munzel have no answer for arms that do not overlap; that is not counted against the claim.
    let undefined =
        robustness.panel().unwrap().answers.iter().filter(|it| matches!(it.says, Says::Undefined(_)));
    assert!(undefined.count() > 0);
}

#[test]
fn a_panel_that_disagrees_takes_support_away_if_it_is_asked_for() {
    let d = check(H, &by_outliers(), Accept, "s", "");
    let (agree, of) = d.hypotheses[0].robustness.as_ref().unwrap().agreement();
    assert!(0 < agree && agree < of, "{agree} of {of}");
    let reason = format!(
        "h is undecided: the rule asks that the robustness panel agree, and {agree} of {of} methods do ("
    );
    let d = check(&format!("{H}{REQUIRE}"), &by_outliers(), Inconclusive, "u", &reason);
    assert!(d.hypotheses[0].outlook.is_none());
}

#[test]
fn a_panel_never_gives_support() {
    for claims in [H.to_owned(), format!("{H}{REQUIRE}")] {
        check(&claims, &time(&around(100.0, 2.0, 20), &around(110.0, 2.0, 20)), Reject, "r", "worse");
        check(
            &claims,
            &time(&around(100.0, 2.0, 20), &around(99.9, 2.0, 20)),
            Inconclusive,
            "u",
            "not below",
        );
        // All methods say better, the margin is not reached.
        let claims = claims.replace("min_effect", "margin = 0.2\nmin_effect");
        check(
            &claims,
            &time(&around(100.0, 2.0, 20), &around(90.0, 2.0, 20)),
            Reject,
            "r",
            "below the margin",
        );
    }
}

#[test]
fn methods_are_asked_for_the_margin() {
    let near = time(&around(100.0, 2.0, 20), &around(90.0, 2.0, 20));
    for (margin, agree) in
        [("0.05", true), ("{ absolute = 6.0 }", true), ("0.1", false), ("{ absolute = 9.9 }", false)]
    {
        let claims = H.replace("min_effect", &format!("margin = {margin}\nmin_effect"));
        let (decision, _) = decided(&registration(20, &claims), &near);
        let robustness = decision.hypotheses[0].robustness.as_ref().unwrap();
        let (of, all) = robustness.agreement();
        assert!(all >= 9 && if agree { of == all } else { of <= 1 }, "{margin}: {of} of {all}");
        assert!(robustness.claimed().starts_with("the gain is > "), "{}", robustness.claimed());
    }
}

#[test]
fn claims_of_no_loss_are_put_to_every_method() {
    let claim = |it: &str, margin: f64| {
        H.replace("min_effect", &format!("claim = \"{it}\"\nmargin = {margin}\nmin_effect"))
    };
    let turned = |mean: f64| around(mean, 2.0, 20).into_iter().rev().collect::<Vec<_>>();
    let near = time(&around(100.0, 2.0, 20), &turned(100.1));
    for it in ["non-inferior", "equivalent"] {
        check(&format!("{}{REQUIRE}", claim(it, 0.05)), &near, Accept, "s", "");
        // One method that does not exclude the loss is enough, though none finds one.
        check(&claim(it, 0.009), &near, Accept, "s", "");
        let d =
            check(&format!("{}{REQUIRE}", claim(it, 0.009)), &near, Inconclusive, "u", "panel agree, and ");
        let robustness = d.hypotheses[0].robustness.as_ref().unwrap();
        assert!(robustness.votes().iter().all(|(_, it)| *it != harness::decide::Vote::Contradicts));
        assert_eq!(robustness.level(), "α = 0.05, one-sided");
    }
    // A loss beyond the margin contradicts both claims by every method.
    let worse = time(&around(100.0, 2.0, 20), &turned(110.0));
    for it in ["non-inferior", "equivalent"] {
        let d = check(&claim(it, 0.05), &worse, Reject, "r", "");
        assert_eq!(d.hypotheses[0].robustness.as_ref().unwrap().agreement().0, 0);
    }
}

#[test]
fn guards_have_no_panel_and_the_document_has_every_method() {
    let metrics = "[metrics.time]\nunit = \"ms\"\nbetter = \"lower\"\n[metrics.memory]\nunit = \"B\"\nbetter = \"lower\"\n";
    let guard = "[[guards]]\nmetric = \"memory\"\nmargin = 0.05\n";
    let text = registration(20, &[metrics, H, guard].concat());
    let mut sets = time(&around(100.0, 2.0, 20), &around(90.0, 2.0, 20));
    sets.extend(["a", "b"].map(|arm| set("memory", arm, &around(64.0, 1.0, 20))));
    let prereg = super::prereg(&text);
    let (decision, analysis) = decided(&text, &sets);
    let doc = document(&prereg, &decision, &analysis);
    assert!(doc["guards"][0]["robustness"].is_null());
    let panel = &doc["hypotheses"][0]["robustness"];
    let methods = panel["methods"].as_array().unwrap();
    assert_eq!((methods.len(), &panel["resamples"]), (harness::stats::panel::ALL.len(), &10_000.into()));
    for it in methods {
        assert_eq!(it["undefined"].is_null(), it["answer"] != "undefined", "{it}");
        assert_eq!(it["estimate"].is_null(), it["answer"] == "undefined", "{it}");
    }
    assert_eq!(panel["paired"], true);
    let lines = doc["criteria"].as_array().unwrap();
    assert!(
        lines.iter().any(|it| it["name"] == "h: robustness" && it["finding"] == "supported"),
        "{lines:?}"
    );
    // The same samples give the same document, in whatever order they come.
    let turned: Vec<_> = sets.into_iter().rev().collect();
    let run = super::run(&prereg, &turned);
    let analysis = analyse(&prereg, &run);
    assert_eq!(doc, document(&prereg, &harness::decide::decide(&prereg, &run, &analysis), &analysis));
}

#[test]
fn arms_measured_one_after_the_other_have_no_pairs() {
    let text = registration(20, &format!("{H}[design]\nsamples = 20\norder = \"sequential\"\n"));
    let (decision, _) = decided(&text, &time(&around(100.0, 2.0, 20), &around(99.0, 2.0, 20)));
    let panel = decision.hypotheses[0].robustness.as_ref().unwrap().panel().unwrap();
    assert!(!panel.options.paired);
}
