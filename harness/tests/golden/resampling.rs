//! Random numbers and the bootstrap.

use harness::stats::rng::{Rng, stream_seed};
use harness::stats::{Bootstrap, Estimand, Sample, StatsError, Status, bootstrap, bootstrap_by};
use serde_json::json;

use super::support::{Answer, Input, num, opt, run};

#[test]
fn random_numbers_and_bootstrap() {
    run("bootstrap", 20, &[], |input| {
        let seed: u64 = input.text("seed").parse().expect("a seed");
        match input.has("fn").then(|| input.text("fn")) {
            Some("xoshiro256pp") => {
                let mut rng = Rng::new(seed);
                Ok(json!({ "u64": (0..6).map(|_| rng.next_u64().to_string()).collect::<Vec<_>>() }))
            }
            Some("replicate_indices") => {
                let index = input.size("replicate") as u64;
                let mut rng = Rng::stream(seed, index);
                let mut draw = |n: usize| (0..n).map(|_| rng.below(n)).collect::<Vec<_>>();
                let first = draw(input.size("nx"));
                Ok(json!({
                    "replicate_seed": stream_seed(seed, index).to_string(),
                    "indices_x": first, "indices_y": draw(input.size("ny")),
                }))
            }
            Some(other) => panic!("no function `{other}`"),
            None => answer_bootstrap(input, seed),
        }
    });
}

fn answer_bootstrap(input: &Input<'_>, seed: u64) -> Answer {
    let (treatment, control) = (input.sample("x")?, input.sample("y")?);
    let resamples = input.size("B");
    let named = |estimand| bootstrap(&treatment, &control, estimand, resamples, seed);
    let found = match input.text("statistic") {
        "mean_diff" => named(Estimand::MeanDifference),
        "mean_ratio" => named(Estimand::MeanRatio),
        "median_ratio" => named(Estimand::QuantileRatio(0.5)),
        "p95_ratio" => named(Estimand::QuantileRatio(0.95)),
        "pct_reduction" => {
            let reduction = |x: &[f64], y: &[f64]| 100.0 * (1.0 - Estimand::MeanRatio.of(x, y));
            bootstrap_by(&treatment, &control, reduction, resamples, seed)
        }
        other => panic!("no statistic `{other}`"),
    }?;
    let percentile = found.percentile_interval(0.95)?;
    let corrected = found.bca_interval(0.95)?;
    Ok(json!({
        "observed": num(found.observed), "status": found.status.code(),
        "first_replicates": found.replicates[..5].iter().map(|value| num(*value)).collect::<Vec<_>>(),
        "count_less": found.count_less, "count_equal": found.count_equal,
        "z0": opt(found.bias), "a": num(found.acceleration),
        "alpha_lo": num(corrected.orders[0]), "alpha_hi": num(corrected.orders[1]),
        "percentile95": [num(percentile.lower), num(percentile.upper)],
        "bca95": [num(corrected.interval.lower), num(corrected.interval.upper)],
        "bootstrap_se": num(found.standard_error()),
    }))
}

#[test]
fn a_ratio_to_nothing_is_an_error_and_one_sided_replicates_are_not_corrected() {
    let sample = |values: &[f64]| Sample::new(values.to_vec()).expect("a sample");
    let (treatment, control) = (sample(&[1.0, 2.0]), sample(&[0.0, 1.0]));
    let found = bootstrap(&treatment, &control, Estimand::MeanRatio, 50, 1);
    assert_eq!(found.unwrap_err(), StatsError::NonFinite);
    // The largest observation of the treatment is a statistic that no resample exceeds.
    let largest = |x: &[f64], _: &[f64]| x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let found: Bootstrap = bootstrap_by(&sample(&[1.0, 2.0, 3.0]), &control, largest, 1, 3).unwrap();
    assert_eq!((found.replicates.len(), found.status), (1, Status::Degenerate));
    assert!(!found.bca_interval(0.9).unwrap().corrected);
}
