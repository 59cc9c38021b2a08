//! One sample: summary.

use harness::stats::{MAD_TO_SD, Summary, mean_interval};
use serde_json::{Map, Value, json};

use super::support::{num, opt, run};

#[test]
fn summary() {
    run("summary", 34, &[], |input| {
        let sample = input.sample("x")?;
        let summary = Summary::of(&sample);
        let interval = mean_interval(&sample, 0.95)?;
        let spread = summary.spread.expect("two observations have a spread");
        let mut fields = Map::new();
        for (name, value) in [
            ("n", summary.n as f64),
            ("sum", summary.sum),
            ("mean", summary.mean),
            ("sd", spread.sd),
            ("sem", spread.standard_error),
            ("min", summary.min),
            ("q1", summary.q1),
            ("median", summary.median),
            ("q3", summary.q3),
            ("p90", summary.p90),
            ("p95", summary.p95),
            ("p99", summary.p99),
            ("max", summary.max),
            ("iqr", summary.iqr()),
            ("mad", summary.mad),
            ("mad_normal", summary.mad * MAD_TO_SD),
            ("trimmed_mean_10", summary.trimmed_mean),
        ] {
            fields.insert(name.to_owned(), num(value));
        }
        for (name, value) in [
            ("cv", spread.variation),
            ("geometric_mean", summary.geometric_mean),
            ("skewness_g1", summary.shape.map(|shape| shape.skewness)),
            ("skewness_G1", summary.shape.map(|shape| shape.skewness_corrected)),
            ("excess_kurtosis_g2", summary.shape.map(|shape| shape.kurtosis)),
            ("excess_kurtosis_G2", summary.shape.and_then(|shape| shape.kurtosis_corrected)),
        ] {
            fields.insert(name.to_owned(), opt(value));
        }
        let overflow = json!("overflow: variance is not representable in f64; sd is");
        let beyond = if spread.sd > 1.0 { overflow } else { Value::Null };
        fields.insert("variance".to_owned(), spread.variance.map_or(beyond, num));
        fields.insert("mean_ci95".to_owned(), json!([num(interval.lower), num(interval.upper)]));
        Ok(Value::Object(fields))
    });
}
