//! Methods that outliers, shapes and spreads do not mislead.

use harness::stats::{StatsError, modality, spread_ratio, yuen};
use serde_json::{Map, Value, json};

use super::support::{Answer, Input, num, opt, put_p, run};

#[test]
fn trimmed_means() {
    run("yuen", 27, &[], answer_yuen);
}

fn answer_yuen(input: &Input<'_>) -> Answer {
    let found = yuen(&input.sample("x")?, &input.sample("y")?, input.number("trim"))?;
    let mut fields = Map::new();
    fields.insert("diff".to_owned(), num(found.trimmed.difference));
    fields.insert("se".to_owned(), num(found.trimmed.standard_error));
    fields.insert("status".to_owned(), json!(found.trimmed.status.code()));
    fields.insert("kept_x".to_owned(), json!(found.kept_treatment));
    fields.insert("kept_y".to_owned(), json!(found.kept_control));
    if let Some(test) = found.trimmed.test {
        fields.insert("t".to_owned(), num(test.t));
        fields.insert("df".to_owned(), num(test.df));
        put_p(&mut fields, "p_two_sided", test.p.two_sided);
        put_p(&mut fields, "p_less", test.p.less);
    }
    Ok(Value::Object(fields))
}

#[test]
fn dips() {
    // A p-value from random numbers is compared here, within their error.
    run("modality", 17, &["p"], |input| {
        let found = modality(&input.sample("x")?, 1)?;
        if input.expects("p") {
            let expected = input.expected("p");
            let p = found.p.value();
            // Four standard errors of a share of 2,000.
            assert!((p - expected).abs() < 0.045, "{}: expected {expected}, found {p}", input.id);
        }
        Ok(json!({ "dip": num(found.dip) }))
    });
}

#[test]
fn spreads() {
    run("spread_ratio", 12, &[], |input| {
        let found = spread_ratio(&input.sample("x")?, &input.sample("y")?)?;
        let interval = found.interval(input.number("level"))?.ok_or(StatsError::ZeroVariance)?;
        Ok(json!({
            "ratio": opt(found.ratio), "log_ratio": opt(found.log_ratio), "se": opt(found.standard_error),
            "interval": [num(interval.lower), num(interval.upper)],
            "brown_forsythe_p": opt(found.test.test.map(|test| test.p.value())),
        }))
    });
}
