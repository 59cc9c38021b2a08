//! Two arms: Welch's test, the ratio, both against margins, and their spreads.

use harness::stats::{
    Bounds, Equivalence, VarianceTest, brown_forsythe, equivalence_absolute_of_moments,
    equivalence_geometric, equivalence_relative_of_moments, geometric_ratio, levene, ratio_of_moments,
    student, variance_ratio, welch_of_moments,
};
use serde_json::{Map, Value, json};

use super::support::{Answer, Input, num, opt, put_p, run};

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

fn limits(bounds: Bounds) -> Value {
    match bounds {
        Bounds::Interval { lower, upper } | Bounds::Complement { lower, upper } => {
            json!([num(lower), num(upper)])
        }
        Bounds::Unbounded => json!([null, null]),
    }
}

fn percent_reduction(change: (f64, f64)) -> Value {
    json!([num(-100.0 * change.1), num(-100.0 * change.0)])
}

#[test]
fn ratio_ci() {
    run("ratio_ci", 70, &[], |input| {
        let (treatment, control) = (input.moments("x")?, input.moments("y")?);
        let ratio = ratio_of_moments(&treatment, &control)?;
        let fieller = ratio.fieller(0.95)?.expect("an arm varies");
        let reduction = fieller.change.affine(-100.0, 0.0);
        let log_delta = ratio.log_delta(0.95)?.map(|delta| {
            json!({
                "df": num(delta.df), "se_log": num(delta.standard_error),
                "ratio": [num(delta.ratio.lower), num(delta.ratio.upper)],
                "pct_reduction": percent_reduction((delta.change.lower, delta.change.upper)),
            })
        });
        let geometric = if input.expects("geo") || input.has("method") {
            let geometric = geometric_ratio(&input.sample("x")?, &input.sample("y")?)?;
            let interval = geometric.interval(0.95)?.expect("an arm varies");
            let change = geometric.change_interval(0.95)?.expect("an arm varies");
            json!({
                "ratio": num(geometric.ratio), "ci95": [num(interval.lower), num(interval.upper)],
                "df": opt(geometric.logarithms.test.map(|test| test.df)),
                "pct_reduction": num(-100.0 * geometric.change),
                "pct_reduction_ci95": percent_reduction((change.lower, change.upper)),
            })
        } else {
            Value::Null
        };
        Ok(json!({
            "ratio": num(ratio.ratio), "pct_change": num(100.0 * ratio.change),
            "pct_reduction": num(-100.0 * ratio.change), "speedup": opt(ratio.inverse()),
            "fieller": {
                "df": num(fieller.df), "g": num(fieller.g), "kind": fieller.ratio.code(),
                "ratio": limits(fieller.ratio),
                "pct_reduction": if reduction == Bounds::Unbounded { Value::Null } else { limits(reduction) },
            },
            "log_delta": log_delta, "geo": geometric,
        }))
    });
}

fn sides(found: &Equivalence, degrees: bool) -> Value {
    let Some(tests) = found.tests else { return Value::Null };
    let mut fields = json!({
        "t_lower": num(tests.below.t), "p_lower": num(tests.below.within.value()),
        "t_upper": num(tests.above.t), "p_upper": num(tests.above.within.value()),
        "tost_p": num(tests.equivalent().value()), "noninf_p": num(tests.above.within.value()),
    });
    if degrees {
        fields["df_lower"] = num(tests.below.df);
        fields["df_upper"] = num(tests.above.df);
    }
    fields
}

#[test]
fn equivalence() {
    run("equivalence", 21, &[], answer_equivalence);
}

fn answer_equivalence(input: &Input<'_>) -> Answer {
    let (treatment, control) = (input.moments("x")?, input.moments("y")?);
    let welch = welch_of_moments(&treatment, &control)?;
    let absolute = equivalence_absolute_of_moments(&treatment, &control, input.number("margin_abs"))?;
    let mut fields = json!({
        "diff": num(absolute.difference), "status": absolute.status.code(),
        "se": num(welch.standard_error), "df": opt(welch.test.map(|test| test.df)),
        "abs": sides(&absolute, false),
    });
    if let Some(interval) = welch.interval(0.9)? {
        fields["abs"]["ci90"] = json!([num(interval.lower), num(interval.upper)]);
    }
    if input.expects("rel") {
        let relative = equivalence_relative_of_moments(&treatment, &control, input.number("margin_rel"))?;
        fields["rel"] = sides(&relative, true);
    }
    if input.expects("geo") {
        let margin = input.number("margin_rel");
        let geometric = equivalence_geometric(&input.sample("x")?, &input.sample("y")?, margin)?;
        fields["geo"] = sides(&geometric, false);
    }
    Ok(fields)
}

#[test]
fn variance_tests() {
    run("variance_tests", 37, &[], |input| {
        let (treatment, control) = (input.sample("x")?, input.sample("y")?);
        let found = brown_forsythe(&treatment, &control)?;
        let f = |found: VarianceTest| opt(found.test.map(|test| test.f));
        let p = |found: VarianceTest| opt(found.test.map(|test| test.p.value()));
        let (by_mean, ratio) = (levene(&treatment, &control)?, variance_ratio(&treatment, &control)?);
        Ok(json!({
            "status": found.status.code(), "df1": opt(found.test.map(|test| test.df1)),
            "df2": opt(found.test.map(|test| test.df2)), "brown_forsythe": f(found), "brown_forsythe_p": p(found),
            "levene": f(by_mean), "levene_p": p(by_mean), "f_ratio": f(ratio), "f_ratio_p": p(ratio),
        }))
    });
}
