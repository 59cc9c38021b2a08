//! Tests on ranks.

use harness::stats::{
    Labelings, MannWhitney, PValue, PermutationStatistic, RankMethod, ShiftInterval, brunner_munzel,
    hodges_lehmann, mann_whitney, mann_whitney_null_cdf, mann_whitney_smallest_p, monte_carlo_p, paired_t,
    permutation, permutation_paired, pseudomedian, sign_test, signed_rank,
};
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
        let smallest = mann_whitney_smallest_p(n_x, n_y)?;
        return Ok(json!({
            "ln_p_one_sided_complete_separation": num(separated.ln()),
            "p_two_sided_complete_separation": num(smallest.value()),
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

#[test]
fn hodges_lehmann_shift() {
    run("hodges_lehmann", 40, &[], |input| {
        let found = hodges_lehmann(&input.sample("x")?, &input.sample("y")?);
        let ends = |shift: &ShiftInterval| json!([num(shift.interval.lower), num(shift.interval.upper)]);
        let (asymptotic, exact) = (found.asymptotic_interval(0.95)?, found.interval(0.95)?);
        let mut fields = json!({
            "shift": num(found.shift),
            "q_asymptotic": asymptotic.rank, "ci95_asymptotic": ends(&asymptotic),
        });
        if let Some(achieved) = exact.achieved {
            fields["q_exact"] = json!(exact.rank);
            fields["ci95_exact"] = ends(&exact);
            fields["achieved_level_exact"] = num(achieved);
        }
        Ok(fields)
    });
}

#[test]
fn brunner_munzel_test() {
    // Signs and the probability are about "x is smaller" in the file, and about the treatment here.
    run("brunner_munzel", 42, &[], |input| {
        let found = brunner_munzel(&input.sample("x")?, &input.sample("y")?)?;
        let mut fields = json!({
            "prob_x_less_y": num(1.0 - found.superiority), "s1_sq": num(found.variance_treatment),
            "s2_sq": num(found.variance_control), "status": found.status.code(),
            "statistic": opt(found.test.map(|test| -test.t)), "df": opt(found.test.map(|test| test.df)),
            "se": num(found.standard_error), "p_two_sided": null,
        });
        if let (Some(test), Some(interval)) = (found.test, found.interval(0.95)?) {
            fields["p_two_sided"] = num(test.p.two_sided.value());
            fields["ln_p_two_sided"] = num(test.p.two_sided.ln());
            fields["p_greater_x_smaller"] = num(test.p.less.value());
            fields["prob_ci95"] = json!([num(1.0 - interval.upper), num(1.0 - interval.lower)]);
        }
        Ok(fields)
    });
}

#[test]
fn permutation_test() {
    run("permutation", 31, &[], |input| {
        if input.has("B") {
            let p = monte_carlo_p(input.size("b") as u64, input.size("B") as u64);
            return Ok(json!({ "mc_p": num(p.value()) }));
        }
        let statistic = match input.text("statistic") {
            "mean_diff" => PermutationStatistic::MeanDifference,
            "welch_t" => PermutationStatistic::WelchT,
            "median_diff" => PermutationStatistic::MedianDifference,
            other => panic!("no statistic `{other}`"),
        };
        let found = permutation(&input.sample("x")?, &input.sample("y")?, statistic, 0, 0)?;
        let Labelings::All(all) = found.labelings else { panic!("few enough to try all") };
        Ok(json!({
            "observed": num(found.observed), "n_permutations": all,
            "count_two_sided": found.two_sided, "count_greater": found.greater, "count_less": found.less,
            "p_two_sided": num(found.p.two_sided.value()), "p_greater": num(found.p.greater.value()),
            "p_less": num(found.p.less.value()),
        }))
    });
}

#[test]
fn random_labelings_come_close_to_all_of_them() {
    let sample = |values: &[f64]| harness::stats::Sample::new(values.to_vec()).expect("a sample");
    let treatment = sample(&[1.0, 3.0, 3.5, 5.0, 8.0, 9.0, 4.1, 6.2, 5.5, 2.0, 7.7]);
    let control = sample(&[2.0, 4.0, 6.0, 10.0, 12.0, 8.5, 9.5, 7.2, 6.6, 11.0, 5.2]);
    let welch = harness::stats::welch(&treatment, &control).unwrap().test.unwrap().p.two_sided.value();
    let random = permutation(&treatment, &control, PermutationStatistic::WelchT, 20_000, 7).unwrap();
    assert_eq!(random.labelings, Labelings::Random { resamples: 20_000, seed: 7 });
    assert!((random.p.two_sided.value() - welch).abs() < 0.01, "{random:?}");
    let pairs = permutation_paired(&treatment, &control, 0, 0).unwrap();
    let exact = signed_rank(&treatment, &control, RankMethod::Auto).unwrap().test.unwrap().p.two_sided;
    assert!((pairs.p.two_sided.value() - exact.value()).abs() < 0.03, "{pairs:?} {exact}");
}

#[test]
fn pairs() {
    run("paired", 11, &[], answer_paired);
}

fn answer_paired(input: &Input<'_>) -> Answer {
    let (treatment, control) = (input.sample("x")?, input.sample("y")?);
    let found = paired_t(&treatment, &control)?;
    let mut fields = Map::new();
    fields.insert("mean_diff".to_owned(), num(found.difference));
    fields.insert("sd_diff".to_owned(), num(found.sd));
    fields.insert("n".to_owned(), json!(found.n));
    fields.insert("t_status".to_owned(), json!(found.status.code()));
    if let (Some(test), Some(interval)) = (found.test, found.interval(0.95)?) {
        fields.insert("t".to_owned(), num(test.t));
        fields.insert("df".to_owned(), num(test.df));
        fields.insert("dz".to_owned(), opt(found.d_z()));
        fields.insert("ci95".to_owned(), json!([num(interval.lower), num(interval.upper)]));
        put_p(&mut fields, "p_two_sided", test.p.two_sided);
        put_p(&mut fields, "p_less", test.p.less);
        put_p(&mut fields, "p_greater", test.p.greater);
    }
    let ranks = signed_rank(&treatment, &control, RankMethod::Auto)?;
    fields.insert("n_nonzero".to_owned(), json!(ranks.n_nonzero));
    fields.insert("wilcoxon_status".to_owned(), json!(ranks.status.code()));
    fields.insert("w_plus".to_owned(), num(ranks.w_plus));
    fields.insert("w_minus".to_owned(), num(ranks.w_minus));
    if let Some(test) = ranks.test {
        let suffix = if test.method == RankMethod::Exact { "exact" } else { "exact_conditional" };
        put_p(&mut fields, &format!("p_two_sided_{suffix}"), test.p.two_sided);
        put_p(&mut fields, &format!("p_less_{suffix}"), test.p.less);
        put_p(&mut fields, &format!("p_greater_{suffix}"), test.p.greater);
    }
    for (suffix, continuity) in [("cc", true), ("nocc", false)] {
        let found = signed_rank(&treatment, &control, RankMethod::Asymptotic { continuity })?;
        let Some(test) = found.test else { continue };
        fields.insert(format!("z_{suffix}"), opt(test.z));
        put_p(&mut fields, &format!("p_two_sided_{suffix}"), test.p.two_sided);
        put_p(&mut fields, &format!("p_less_{suffix}"), test.p.less);
        put_p(&mut fields, &format!("p_greater_{suffix}"), test.p.greater);
    }
    let signs = sign_test(&treatment, &control)?;
    fields.insert("sign_positive".to_owned(), json!(signs.positive));
    fields.insert("sign_test_p".to_owned(), opt(signs.p.map(|p| p.two_sided).map(PValue::value)));
    let center = pseudomedian(&treatment, &control)?;
    fields.insert("pseudomedian".to_owned(), num(center.value));
    if let Some(found) = center.interval(0.95)? {
        fields.insert("q_exact".to_owned(), json!(found.rank));
        let ends = json!([num(found.interval.lower), num(found.interval.upper)]);
        fields.insert("pseudomedian_ci95_exact".to_owned(), ends);
    }
    Ok(Value::Object(fields))
}
