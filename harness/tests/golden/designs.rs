//! Factorials and several hosts.

use harness::stats::{
    Bounds, Cell, Contrast, ContrastRatio, Factorial2x2, Interval, Moments, Sample, StatsError,
    StratumEstimate, factorial, factorial_2x2, meta_analysis, van_elteren,
};
use serde_json::{Map, Value, json};

use super::support::{Answer, Input, moments_of_summary, num, opt, run};

fn ends(interval: Interval) -> Value {
    json!([num(interval.lower), num(interval.upper)])
}

#[test]
fn factorials() {
    run("factorial", 10, &[], |input| {
        let cells = input.get("cells");
        if input.has("k") {
            let cells = cells.as_array().expect("cells in order").iter();
            let cells = cells.map(|cell| Cell::of(&Sample::new(input.resolve(&cell["x"]))?));
            return answer_cube(&cells.collect::<Result<Vec<_>, _>>()?);
        }
        let given = ["A", "B", "C", "D"].into_iter().filter_map(|name| cells.get(name));
        let cells = given.map(|cell| cell_of(input, cell)).collect::<Result<Vec<_>, _>>()?;
        answer_square(&factorial_2x2(&cells)?, cells.iter().map(Cell::mean).collect())
    });
}

fn cell_of(input: &Input<'_>, cell: &Value) -> Result<Cell, StatsError> {
    if let Some(values) = cell.get("x") {
        Cell::of(&Sample::new(input.resolve(values))?)
    } else if cell["sd"].is_null() {
        Cell::of_mean(cell["mean"].as_f64().expect("a mean"))
    } else {
        moments_of_summary(cell).map(Cell::of_moments)
    }
}

fn answer_cube(cells: &[Cell]) -> Answer {
    let mut effects = Map::new();
    for effect in factorial(cells)? {
        let name: String =
            (0..3).filter(|bit| effect.switches >> bit & 1 == 1).map(|bit| bit.to_string()).collect();
        let mut fields = contrast(&effect.contrast)?;
        fields["effect"] = num(effect.contrast.estimate);
        effects.insert(name, fields);
    }
    Ok(json!({ "effects": effects }))
}

fn contrast(contrast: &Contrast) -> Answer {
    let Some(test) = contrast.test else { return Ok(Value::Null) };
    Ok(json!({
        "estimate": num(contrast.estimate), "se": opt(contrast.standard_error), "df": num(test.df),
        "t": num(test.t), "p_two_sided": num(test.p.two_sided.value()),
        "ci95": contrast.interval(0.95)?.map(ends),
    }))
}

fn percent_set(set: Option<ContrastRatio>, keep_complement: bool) -> Value {
    let Some(set) = set else { return Value::Null };
    let limits = match set.bounds.affine(100.0, 0.0) {
        Bounds::Interval { lower, upper } => json!([num(lower), num(upper)]),
        Bounds::Complement { lower, upper } if keep_complement => json!([num(lower), num(upper)]),
        Bounds::Complement { .. } | Bounds::Unbounded => Value::Null,
    };
    json!({ "kind": set.bounds.code(), "df": num(set.df), "pct": limits })
}

fn answer_square(found: &Factorial2x2, means: Vec<f64>) -> Answer {
    let [a, b, c, d] = means[..] else { panic!("four cells") };
    let percent = |value: f64, base: f64| num(100.0 * ((value - base) / base));
    let multiplicative = found.multiplicative_interaction(0.95)?.map(|interaction| {
        json!({
            "ratio": num(interaction.ratio), "ci95": ends(interaction.interval),
            "df": num(interaction.test.df), "p_two_sided": num(interaction.test.p.two_sided.value()),
        })
    });
    let expected = found.expected_multiplicative.expect("a mean above zero");
    Ok(json!({
        "vs_A_pct": { "B": percent(b, a), "C": percent(c, a), "D": percent(d, a) },
        "main_effect_1": num(found.main_first.estimate), "main_effect_2": num(found.main_second.estimate),
        "interaction_did": num(found.interaction.estimate),
        "interaction_effect": num(0.5 * found.interaction.estimate),
        "simple_effect_1_given_2_off_pct": percent(b, a), "simple_effect_1_given_2_on_pct": percent(d, c),
        "simple_effect_2_given_1_on_pct": percent(d, b),
        "expected_additive": num(found.expected),
        "sub_additivity_pct_of_expected": opt(found.sub_additivity.map(|share| 100.0 * share)),
        "expected_gain": num(found.expected_gain), "actual_gain": num(found.actual_gain),
        "gain_shortfall_pct": opt(found.gain_shortfall.map(|share| 100.0 * share)),
        "expected_multiplicative": num(expected), "sub_multiplicative_pct": percent(2.0 * expected - d, expected),
        "main_effect_1_test": contrast(&found.main_first)?,
        "main_effect_2_test": contrast(&found.main_second)?,
        "interaction_did_test": contrast(&found.interaction)?,
        "sub_additivity_ci95": percent_set(found.sub_additivity_set(0.95)?, false),
        "gain_shortfall_ci95": percent_set(found.gain_shortfall_set(0.95)?, true),
        "multiplicative_interaction": multiplicative,
    }))
}

#[test]
fn several_hosts() {
    run("stratified", 7, &[], |input| {
        let hosts = input.get("hosts").as_array().expect("hosts");
        let arm = |host: &Value, arm: &str| Sample::new(input.resolve(&host[arm]));
        let hosts = hosts
            .iter()
            .map(|host| Ok((arm(host, "x")?, arm(host, "y")?)))
            .collect::<Result<Vec<_>, StatsError>>()?;
        let strata: Vec<_> = hosts.iter().map(|(treatment, control)| (treatment, control)).collect();
        let ranks = van_elteren(&strata)?;
        let ratios = hosts
            .iter()
            .map(|(x, y)| StratumEstimate::ln_ratio(&Moments::of(x)?, &Moments::of(y)?))
            .collect::<Result<Vec<_>, _>>()?;
        let found = meta_analysis(&ratios)?;
        let (laird, random) = (found.dersimonian_laird(), found.random());
        let interval = found.random_interval(0.95)?;
        Ok(json!({
            "van_elteren_t": num(ranks.statistic), "van_elteren_var": num(ranks.variance),
            "z": num(ranks.z), "p_two_sided": num(ranks.p.two_sided.value()),
            "yi": ratios.iter().map(|ratio| num(ratio.value)).collect::<Vec<_>>(),
            "vi": ratios.iter().map(|ratio| num(ratio.variance)).collect::<Vec<_>>(),
            "fe_estimate": num(found.fixed.value), "fe_ci95": ends(found.fixed_interval(0.95)?),
            "q": num(found.q), "q_p": num(found.q_p.value()), "i2_dl_pct": num(100.0 * found.i2),
            "tau2_dl": num(found.tau2_dersimonian_laird), "tau2_pm": num(found.tau2_paule_mandel),
            "tau2_reml": num(found.tau2_reml), "dl_estimate": num(laird.value),
            "dl_se": num(laird.standard_error), "dl_ci95": ends(found.dersimonian_laird_interval(0.95)?),
            "hksj_estimate": num(random.value), "hksj_se": num(random.standard_error),
            "hksj_ci95": ends(interval), "hksj_ratio": num(random.value.exp()),
            "hksj_ratio_ci95": [num(interval.lower.exp()), num(interval.upper.exp())],
            "prediction_ci95": ends(found.prediction_interval(0.95)?),
            "wins": ratios.iter().filter(|ratio| ratio.value < 0.0).count(),
        }))
    });
}
