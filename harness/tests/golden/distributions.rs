//! Tails and quantiles.

use harness::stats::dist::{
    Probability, chi_squared_sf, f_sf, incomplete_beta, noncentral_t_cdf, normal_isf, normal_sf,
    student_t_isf, student_t_sf,
};
use serde_json::{Value, json};

use super::support::{num, run};

fn probability(probability: Probability) -> Value {
    json!({ "value": num(probability.value), "ln": num(probability.ln) })
}

fn value(value: f64) -> Value {
    json!({ "value": num(value) })
}

#[test]
fn distributions() {
    run("distributions", 110, &[], |input| {
        let get = |key| input.number(key);
        let df = || match input.get("df") {
            Value::String(text) if text.eq_ignore_ascii_case("infinity") => f64::INFINITY,
            _ => get("df"),
        };
        let mut answer = match input.text("fn") {
            "student_t_sf" => probability(student_t_sf(get("t"), df())?),
            "student_t_isf" => value(student_t_isf(get("q"), df())?),
            "normal_sf" => probability(normal_sf(get("z"))),
            "normal_isf" => value(normal_isf(get("q"))?),
            "chi2_sf" => probability(chi_squared_sf(get("x"), df())?),
            "f_sf" => probability(f_sf(get("x"), get("df1"), get("df2"))?),
            "beta_reg" => value(incomplete_beta(get("x"), get("a"), get("b"))?.value),
            "nct_cdf" => value(noncentral_t_cdf(get("t"), df(), get("ncp"))?.value),
            other => panic!("no function `{other}`"),
        };
        // `null` is an underflow here, although its logarithm is called `ln` alone.
        if answer["value"].as_f64().is_some_and(|value| value < 2.3e-308) && input.expects("ln") {
            answer["value"] = Value::Null;
        }
        Ok(answer)
    });
}
