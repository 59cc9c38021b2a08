//! The floor of a calibrated host: what it shows between equal arms supports nothing.

use super::calibration::{Calibrated, Calibration};
use super::criterion::{Criterion, subject};
use super::judge::{Judged, shares_a_gain};
use crate::store::RunData;
use crate::vocab::{Claim, Finding, Margin, significant};

/// The calibration that a run carries. It was made before the run and on its host, or the run would not carry it.
pub fn calibration(run: &RunData) -> Option<Calibration> {
    serde_json::from_value(run.run.environment.get("calibration")?.clone()).ok()
}

/// Leaves undecided what is supported by a gain below the floor, or refuted by less than the floor below a relative margin.
pub(super) fn apply(calibration: &Calibration, hypotheses: &mut [Judged]) {
    for it in hypotheses {
        let Some(place) = place(calibration, it) else { continue };
        let Some(gain) = share(it) else { continue };
        // What refutes lies below the margin, and may do so by noise.
        let short = match (it.finding, it.margin) {
            (Finding::Supported, _) => gain < place.noise_floor,
            (Finding::Refuted, Margin::Relative(margin)) => margin - gain < place.noise_floor,
            _ => false,
        };
        if it.claim == Claim::Superior && short {
            it.finding = Finding::Undecided;
            it.reason = format!(
                "this host shows as much between equal arms: its noise floor is {} %",
                significant(place.noise_floor * 100.0, 3)
            );
            it.outlook = None;
        }
    }
}

/// What the calibration says of the place of a hypothesis.
pub(super) fn place<'a>(calibration: &'a Calibration, it: &Judged) -> Option<&'a Calibrated> {
    let same = |that: &&Calibrated| that.metric == it.comparison.metric && that.cell == it.comparison.cell;
    calibration.places.iter().find(same)
}

/// The gain as a share of the control; `None` if it is none.
pub(super) fn share(it: &Judged) -> Option<f64> {
    let gain = it.gain.as_ref().ok()?.value;
    match it.counted {
        _ if shares_a_gain(&it.comparison, it.counted) => None,
        Margin::Relative(_) => Some(gain),
        Margin::Absolute(_) => it.comparison.base().filter(|it| *it > 0.0).map(|base| gain / base),
    }
}

/// A line for each claim of superiority whose place is calibrated.
pub(super) fn criteria(calibration: &Calibration, hypotheses: &[Judged]) -> Vec<Criterion> {
    let percent = |it: f64| format!("{} %", significant(it * 100.0, 3));
    let line = |it: &Judged| {
        let place = place(calibration, it).filter(|_| it.claim == Claim::Superior)?;
        let gain = share(it)?;
        Some(Criterion {
            subject: subject(it),
            quantity: "gain above the host's noise".to_owned(),
            threshold: format!("≥ {} (calibration {})", percent(place.noise_floor), calibration.id),
            result: crate::vocab::minus(percent(gain)),
            finding: if gain < place.noise_floor { Finding::Undecided } else { Finding::Supported },
        })
    };
    hypotheses.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::analyse;
    use crate::decide::{decide, document};
    use crate::prereg::parse;
    use crate::store::{Git, Run, SampleSet};
    use crate::vocab::Verdict;
    use jiff::Timestamp;
    use serde_json::{Value, json};
    use uuid::Uuid;

    /// A run in which the treatment is 1 % better beyond doubt, on a host with this floor.
    fn verdict(floor: Option<f64>) -> (Verdict, String, Value) {
        let text = "id = 'x'\ntitle = 'x'\nledger = 'x'\n[worker]\ncommand = ['x']\nsystem = 'x'\n\
                    [arms.a]\nrole = 'control'\n[arms.b]\nrole = 'treatment'\nparams.p = 1\n\
                    [design]\nsamples = 20\n[metrics.m]\nunit = 'ms'\nbetter = 'lower'\n\
                    [[hypotheses]]\nid = 'h'\nmetric = 'm'\n";
        let prereg = parse(text, "x.toml").unwrap();
        let noise = [0.3, -0.2, 0.1, 0.4, -0.5, 0.2, -0.3, 0.5, -0.1, -0.4];
        let set = |arm: &str, level: f64| SampleSet {
            metric: "m".to_owned(),
            cell: String::new(),
            arm: arm.to_owned(),
            warmup: false,
            first_block: 0,
            unit: "ms".to_owned(),
            values: (0..20)
                .map(|i| level + 0.01 * noise[(i * if arm == "a" { 3 } else { 7 }) % 10])
                .collect(),
            at_ns: Vec::new(),
        };
        let calibration = floor.map(|noise_floor| Calibration {
            id: Uuid::nil(),
            host: "h".to_owned(),
            experiment: "x".to_owned(),
            registration: prereg.digest(),
            at: Timestamp::UNIX_EPOCH,
            harness: "0".to_owned(),
            samples: 20,
            places: vec![Calibrated {
                metric: "m".to_owned(),
                cell: String::new(),
                comparisons: 100,
                false_accepts: serde_json::from_value(json!({"hits": 0, "of": 100, "interval": [0.0, 0.1]}))
                    .unwrap(),
                different: serde_json::from_value(json!({"hits": 0, "of": 100, "interval": [0.0, 0.1]}))
                    .unwrap(),
                noise_floor,
                power: Vec::new(),
                smallest_80: None,
                smallest_95: None,
            }],
        });
        let environment = calibration.map_or_else(|| json!({}), |it| json!({ "calibration": it }));
        let run = Run {
            id: Uuid::nil(),
            experiment: "x".to_owned(),
            version: 1,
            registration: prereg.digest(),
            host: "h".to_owned(),
            environment,
            harness: "0".to_owned(),
            seed: 1,
            git: Git { commit: "unknown".to_owned(), dirty: false },
            started_at: Timestamp::UNIX_EPOCH,
        };
        let run = RunData {
            run,
            arms: Vec::new(),
            cells: Vec::new(),
            events: Vec::new(),
            sets: vec![set("a", 1.0), set("b", 0.99)],
            invalidations: Vec::new(),
        };
        let analysis = analyse(&prereg, &run);
        let decision = decide(&prereg, &run, &analysis);
        let document = document(&prereg, &decision, &analysis);
        (decision.verdict, decision.reasons.join(" "), document)
    }

    #[test]
    fn a_gain_below_the_noise_of_its_host_supports_nothing() {
        let (found, reasons, document) = verdict(Some(0.02));
        assert_eq!(found, Verdict::Inconclusive);
        assert!(reasons.contains("its noise floor is 2"), "{reasons}");
        assert_eq!(document["calibration"], json!(Uuid::nil()));
        assert_eq!(verdict(Some(0.005)).0, Verdict::Accept);
    }

    #[test]
    fn a_run_without_a_calibration_is_decided_as_ever() {
        let (found, _, document) = verdict(None);
        assert_eq!(found, Verdict::Accept);
        assert!(document.get("calibration").is_none());
    }
}
