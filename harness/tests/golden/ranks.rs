//! Tests on ranks.

use harness::stats::{MannWhitney, RankMethod, mann_whitney, mann_whitney_null_cdf};
use serde_json::{Map, Value, json};

use super::support::{Answer, Input, num, opt, put_p, run};

fn put_tails(fields: &mut Map<String, Value>, suffix: &str, found: &MannWhitney) {
    put_p(fields, &format!("p_two_sided_{suffix}"), found.p.two_sided);
    put_p(fields, &format!("p_greater_{suffix}"), found.p.greater);
    put_p(fields, &format!("p_less_{suffix}"), found.p.less);
}

#[test]
fn mann_whitney_u() {
    run("mann_whitney", 50, &["note"], answer_mann_whitney);
}

fn answer_mann_whitney(input: &Input<'_>) -> Answer {
    if input.has("fn") {
        let (n_x, n_y) = (input.size("nx"), input.size("ny"));
        let separated = mann_whitney_null_cdf(n_x, n_y, 0)?;
        return Ok(json!({
            "ln_p_one_sided_complete_separation": num(separated.ln()),
            "p_two_sided_complete_separation": num((2.0 * separated.value()).min(1.0)),
            "ln_cdf_quarter": num(mann_whitney_null_cdf(n_x, n_y, n_x * n_y / 4)?.ln()),
        }));
    }
    let (treatment, control) = (input.sample("x")?, input.sample("y")?);
    if input.has("method") {
        mann_whitney(&treatment, &control, RankMethod::Exact)?;
    }
    let corrected = mann_whitney(&treatment, &control, RankMethod::Asymptotic { continuity: true })?;
    let uncorrected = mann_whitney(&treatment, &control, RankMethod::Asymptotic { continuity: false })?;
    let mut fields = Map::new();
    fields.insert("u1".to_owned(), num(corrected.u_treatment));
    fields.insert("u2".to_owned(), num(corrected.u_control));
    fields.insert("tie_term".to_owned(), json!(corrected.tie_term));
    fields.insert("sigma".to_owned(), num(corrected.sigma));
    fields.insert("has_ties".to_owned(), json!(corrected.tie_term > 0));
    fields.insert("z_cc".to_owned(), opt(corrected.z));
    fields.insert("z_nocc".to_owned(), opt(uncorrected.z));
    put_tails(&mut fields, "cc", &corrected);
    put_tails(&mut fields, "nocc", &uncorrected);
    if input.expects("p_two_sided_exact") {
        let exact = mann_whitney(&treatment, &control, RankMethod::Auto)?;
        let method = if treatment.len() * control.len() > 10_000 { RankMethod::Exact } else { exact.method };
        assert_eq!(method, RankMethod::Exact, "{}", input.id);
        put_tails(&mut fields, "exact", &mann_whitney(&treatment, &control, RankMethod::Exact)?);
    }
    if input.expects("p_two_sided_exact_conditional") {
        let exact = mann_whitney(&treatment, &control, RankMethod::ExactConditional)?;
        put_tails(&mut fields, "exact_conditional", &exact);
    }
    Ok(Value::Object(fields))
}
