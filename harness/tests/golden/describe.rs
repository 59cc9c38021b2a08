//! One sample: summary, normality, outliers, dependence and drift.

use harness::stats::{
    Autocorrelation, MAD_TO_SD, PValue, QuantileInterval, Summary, anderson_darling, dagostino_pearson,
    harrell_davis, jarque_bera, mad_outliers, mean_interval, quantile, quantile_interval, shapiro_wilk,
    trend, tukey_outliers,
};
use serde_json::{Map, Value, json};

use super::support::{Answer, Input, num, opt, run};

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

#[test]
fn normality() {
    run("normality", 23, &[], |input| {
        let sample = input.sample("x")?;
        let shapiro = shapiro_wilk(&sample)?;
        let jarque = jarque_bera(&sample)?;
        let mut fields = json!({
            "n": sample.len(), "sw_w": num(shapiro.w), "sw_p": num(shapiro.p.value()),
            "jarque_bera": num(jarque.statistic), "jarque_bera_p": num(jarque.p.value()),
        });
        if sample.len() >= 8 {
            let anderson = anderson_darling(&sample)?;
            fields["ad_a2"] = num(anderson.a2);
            fields["ad_a2_star"] = num(anderson.a2_corrected);
            fields["ad_p"] = num(anderson.p.value());
        }
        if sample.len() >= 20 {
            let both = dagostino_pearson(&sample)?;
            fields["skew_z"] = num(both.z_skewness);
            fields["kurt_z"] = num(both.z_kurtosis);
            fields["dagostino_k2"] = num(both.k2);
            fields["dagostino_p"] = num(both.p.value());
        }
        Ok(fields)
    });
}

#[test]
fn outliers() {
    run("outliers", 15, &[], |input| {
        let sample = input.sample("x")?;
        let tukey = tukey_outliers(&sample);
        let mad = mad_outliers(&sample);
        Ok(json!({
            "q1": num(tukey.q1), "q3": num(tukey.q3), "iqr": num(tukey.q3 - tukey.q1),
            "fences": tukey.fences.map(num),
            "tukey": {
                "low_severe": tukey.low_severe, "low_mild": tukey.low_mild,
                "high_mild": tukey.high_mild, "high_severe": tukey.high_severe,
            },
            "median": num(mad.median), "mad": num(mad.mad), "mean_ad": num(mad.mean_deviation),
            "scale_used": mad.scale.code(), "mad_outliers": mad.outliers,
        }))
    });
}

#[test]
fn autocorrelation() {
    run("autocorrelation", 13, &[], |input| {
        let found = Autocorrelation::of(&input.sample("x")?)?;
        let n = input.values("x").len();
        let mut ljung_box = Map::new();
        for lags in [1, 5, 10].into_iter().filter(|lags| *lags < n) {
            let test = found.ljung_box(lags)?;
            ljung_box.insert(lags.to_string(), json!({ "q": num(test.q), "p": num(test.p.value()) }));
        }
        let effective = found.effective_size();
        Ok(json!({
            "acf": (1..=10.min(n - 1)).map(|lag| num(found.at(lag))).collect::<Vec<_>>(),
            "ljung_box": ljung_box, "von_neumann": num(found.von_neumann()),
            "tau": num(effective.time), "ess": num(effective.size),
        }))
    });
}

#[test]
fn drift() {
    run("trend", 14, &[], answer_trend);
}

fn answer_trend(input: &Input<'_>) -> Answer {
    let found = trend(&input.sample("x")?, 0.95)?;
    let interval = found.slope_interval;
    Ok(json!({
        "s": found.score, "var_s": num(found.variance), "z": num(found.z),
        "p_two_sided": num(found.p.value()), "p_exact": opt(found.p_exact.map(PValue::value)),
        "tau": num(found.tau), "sen_slope": num(found.slope), "sen_intercept": num(found.intercept),
        "sen_ci95": interval.map(|interval| [num(interval.lower), num(interval.upper)]),
    }))
}

#[test]
fn quantiles() {
    // Type 8 is in the file to tell it from type 7 and is not offered here.
    run("quantiles", 72, &["type8"], |input| {
        let sample = input.sample("x")?;
        if input.has("y") {
            let control = input.sample("y")?;
            let orders: Vec<f64> = input.values("p");
            let estimate =
                |sample| orders.iter().map(move |p| harrell_davis(sample, *p)).collect::<Result<Vec<_>, _>>();
            let (x, y) = (estimate(&sample)?, estimate(&control)?);
            let difference: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
            return Ok(json!({ "hd_x": x, "hd_y": y, "hd_diff": difference }));
        }
        let p = input.number("p");
        let type_7 = quantile(&sample, p)?;
        let QuantileInterval { lower_rank, upper_rank, lower, upper, coverage, .. } =
            quantile_interval(&sample, p, 0.95)?;
        Ok(json!({
            "type7": num(type_7), "harrell_davis": num(harrell_davis(&sample, p)?),
            "ci95": {
                "lower_rank": lower_rank, "upper_rank": upper_rank, "lower": opt(lower), "upper": opt(upper),
                "coverage": num(coverage),
            },
        }))
    });
}
