//! Two means: Welch's test.

use harness::stats::{student, welch_of_moments};
use serde_json::{Map, Value, json};

use super::support::{num, put_p, run};

#[test]
fn welch_t() {
    run("welch_t", 86, &[], |input| {
        let (treatment, control) = (input.moments("x")?, input.moments("y")?);
        let welch = welch_of_moments(&treatment, &control)?;
        if input.has("level") {
            welch.interval(input.number("level"))?;
        }
        let Some(test) = welch.test else {
            return Ok(json!({
                "status": welch.status.code(), "diff": num(welch.difference), "t": null, "df": null,
                "p_two_sided": null, "ci95": welch.interval(0.95)?.map(|interval| interval.lower),
            }));
        };
        let pooled = student(&treatment, &control)?.expect("the arms vary");
        let mut fields = Map::new();
        for (name, value) in [
            ("diff", welch.difference),
            ("se", welch.standard_error),
            ("t", test.t),
            ("df", test.df),
            ("upper95_one_sided", welch.upper_limit(0.95)?.expect("the arms vary")),
            ("lower95_one_sided", welch.lower_limit(0.95)?.expect("the arms vary")),
            ("student_t", pooled.t),
            ("student_df", pooled.df),
        ] {
            fields.insert(name.to_owned(), num(value));
        }
        put_p(&mut fields, "p_two_sided", test.p.two_sided);
        put_p(&mut fields, "p_less", test.p.less);
        put_p(&mut fields, "p_greater", test.p.greater);
        for (name, level) in [("ci90", 0.9), ("ci95", 0.95), ("ci99", 0.99)] {
            let interval = welch.interval(level)?.expect("the arms vary");
            fields.insert(name.to_owned(), json!([num(interval.lower), num(interval.upper)]));
        }
        Ok(Value::Object(fields))
    });
}
