//! What must hold for every sample.

use proptest::prelude::*;

use super::*;

/// Observations with three decimals, around a level, with ties now and then.
fn values() -> impl Strategy<Value = Vec<f64>> {
    (1i32..2_000, prop::collection::vec(-500i32..500, 2..30)).prop_map(|(level, steps)| {
        steps.into_iter().map(|step| f64::from(level * 1_000 + step) / 1_000.0).collect()
    })
}

fn two_arms() -> impl Strategy<Value = (Sample, Sample)> {
    (values(), values()).prop_map(|(treatment, control)| (sample(treatment), sample(control)))
}

/// Two arms of about the same level, so that tests are not always decided.
fn close_arms() -> impl Strategy<Value = (Sample, Sample)> {
    let arm = || prop::collection::vec(-500i32..500, 2..30);
    (arm(), arm()).prop_map(|(treatment, control)| {
        let level =
            |steps: Vec<i32>| sample(steps.into_iter().map(|step| 8.0 + f64::from(step) / 256.0).collect());
        (level(treatment), level(control))
    })
}

fn sample(values: Vec<f64>) -> Sample {
    Sample::new(values).unwrap()
}

fn map(sample: &Sample, f: impl Fn(f64) -> f64) -> Sample {
    Sample::new(sample.values().iter().map(|value| f(*value)).collect()).unwrap()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1e-300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn swapping_the_arms_turns_every_sign((x, y) in two_arms()) {
        let (there, back) = (welch(&x, &y).unwrap(), welch(&y, &x).unwrap());
        prop_assert_eq!(there.difference, -back.difference);
        if let (Some(there), Some(back)) = (there.test, back.test) {
            prop_assert_eq!(there.t, -back.t);
            prop_assert_eq!(there.p.less, back.p.greater);
            prop_assert_eq!(there.p.two_sided, back.p.two_sided);
        }
        let (d, e) = (effect_size(&x, &y).unwrap().standardized, effect_size(&y, &x).unwrap().standardized);
        prop_assert_eq!(d.map(|d| d.cohens_d), e.map(|e| -e.cohens_d));
        prop_assert_eq!(cliffs_delta(&x, &y).delta, -cliffs_delta(&y, &x).delta);
        for method in [RankMethod::AutoConditional, RankMethod::Asymptotic { continuity: true }] {
            let (there, back) = (mann_whitney(&x, &y, method).unwrap(), mann_whitney(&y, &x, method).unwrap());
            prop_assert_eq!(there.p.less, back.p.greater);
            prop_assert_eq!(there.p.two_sided, back.p.two_sided);
        }
    }

    #[test]
    fn the_order_of_observations_does_not_move_a_mean(x in values(), seed in 0u64..1_000) {
        let mut shuffled = x.clone();
        rng::Rng::new(seed).shuffle(&mut shuffled);
        let (x, y) = (Moments::of_values(&x), Moments::of_values(&shuffled));
        // Far below the last digit of either mean, which their difference must not consist of.
        prop_assert!(x.difference(&y).abs() <= 1e-22 * x.mean().abs(), "{}", x.difference(&y));
    }

    #[test]
    fn a_constant_added_changes_no_test((x, y) in close_arms(), shift in -4_000i32..4_000) {
        // Shifts and values are multiples of 2^-8, so that the shift itself rounds nothing.
        let shift = f64::from(shift);
        let (u, v) = (map(&x, |value| value + shift), map(&y, |value| value + shift));
        prop_assert_eq!(cliffs_delta(&x, &y).delta, cliffs_delta(&u, &v).delta);
        let (a, b) = (welch(&x, &y).unwrap(), welch(&u, &v).unwrap());
        prop_assert_eq!(a.difference, b.difference);
        if let (Some(a), Some(b)) = (a.test, b.test) {
            prop_assert_eq!(a.t, b.t);
            prop_assert_eq!(a.p, b.p);
        }
    }

    #[test]
    fn a_power_of_two_changes_no_bit((x, y) in two_arms(), exponent in -300i32..300) {
        let scale = libm::ldexp(1.0, exponent);
        let (u, v) = (map(&x, |value| value * scale), map(&y, |value| value * scale));
        let (a, b) = (welch(&x, &y).unwrap(), welch(&u, &v).unwrap());
        prop_assert_eq!(a.difference * scale, b.difference);
        prop_assert_eq!(a.standard_error * scale, b.standard_error);
        prop_assert_eq!(a.test, b.test);
        let (a, b) = (effect_size(&x, &y).unwrap(), effect_size(&u, &v).unwrap());
        let numbers = |effect: EffectSize| {
            effect.standardized.map(|effect| {
                let interval = effect.bonett_interval(0.95).unwrap();
                [effect.cohens_d, effect.hedges_g, effect.average_d, interval.lower, interval.upper]
            })
        };
        prop_assert_eq!(numbers(a), numbers(b));
        let (a, b) = (ratio(&x, &y).unwrap(), ratio(&u, &v).unwrap());
        prop_assert_eq!((a.ratio, a.change), (b.ratio, b.change));
        prop_assert_eq!(a.fieller(0.95).unwrap(), b.fieller(0.95).unwrap());
        prop_assert_eq!(
            geometric_ratio(&x, &y).unwrap().change_interval(0.9).unwrap(),
            geometric_ratio(&u, &v).unwrap().change_interval(0.9).unwrap()
        );
        prop_assert_eq!(cliffs_delta(&x, &y).delta, cliffs_delta(&u, &v).delta);
        prop_assert_eq!(brown_forsythe(&x, &y).unwrap(), brown_forsythe(&u, &v).unwrap());
        prop_assert_eq!(mad_outliers(&x).scores, mad_outliers(&u).scores);
        prop_assert_eq!(hodges_lehmann(&x, &y).shift * scale, hodges_lehmann(&u, &v).shift);
        if x.len() == y.len() {
            prop_assert_eq!(paired_t(&x, &y).unwrap().test, paired_t(&u, &v).unwrap().test);
        }
        if x.len() >= 8 && !x.is_constant() {
            prop_assert_eq!(anderson_darling(&x).unwrap(), anderson_darling(&u).unwrap());
            prop_assert_eq!(&change_points(&x, 3.0).unwrap().starts, &change_points(&u, 3.0).unwrap().starts);
        }
        if x.len() > 2 && !x.is_constant() {
            prop_assert_eq!(shapiro_wilk(&x).unwrap(), shapiro_wilk(&u).unwrap());
            prop_assert_eq!(Autocorrelation::of(&x).unwrap(), Autocorrelation::of(&u).unwrap());
            prop_assert_eq!(trend(&x, 0.9).unwrap().z, trend(&u, 0.9).unwrap().z);
        }
    }

    #[test]
    fn trimmed_means_and_spreads_turn_and_scale((x, y) in two_arms(), exponent in -300i32..300, trim in 0.0..0.4f64) {
        let scale = libm::ldexp(1.0, exponent);
        let (u, v) = (map(&x, |value| value * scale), map(&y, |value| value * scale));
        if let Ok(there) = yuen(&x, &y, trim) {
            let (back, scaled) = (yuen(&y, &x, trim).unwrap(), yuen(&u, &v, trim).unwrap());
            prop_assert_eq!(there.trimmed.difference, -back.trimmed.difference);
            prop_assert_eq!(there.trimmed.test.map(|test| test.p.less), back.trimmed.test.map(|test| test.p.greater));
            prop_assert_eq!(there.trimmed.test, scaled.trimmed.test);
        }
        if let Ok(there) = spread_ratio(&x, &y) {
            let (back, scaled) = (spread_ratio(&y, &x).unwrap(), spread_ratio(&u, &v).unwrap());
            prop_assert_eq!((there.ratio, there.standard_error), (scaled.ratio, scaled.standard_error));
            if let (Some(there), Some(back)) = (there.ratio, back.ratio) {
                prop_assert!(close(there * back, 1.0, 1e-14));
            }
        }
        if x.len() >= 12 {
            let (there, scaled) = (steady_state(&x, true, 0.001).unwrap(), steady_state(&u, true, 0.001).unwrap());
            prop_assert_eq!((there.class, there.steady_from), (scaled.class, scaled.steady_from));
        }
        let (there, scaled) = (Resolution::of(&x), Resolution::of(&u));
        prop_assert_eq!(there.quantum.map(|quantum| quantum * scale), scaled.quantum);
        prop_assert_eq!((there.tied_share, there.quanta), (scaled.tied_share, scaled.quanta));
    }

    #[test]
    fn swapping_the_arms_turns_the_panel((x, y) in close_arms()) {
        let options = PanelOptions { resamples: 9, ..PanelOptions::default() };
        let (there, back) = (panel(&x, &y, options).unwrap(), panel(&y, &x, options).unwrap());
        for (there, back) in there.answers.iter().zip(&back.answers) {
            // Resampling draws other numbers for other arms.
            if ["permutation", "bootstrap"].contains(&there.id) {
                continue;
            }
            let turned = match back.says {
                Says::Less => Says::Greater,
                Says::Greater => Says::Less,
                says => says,
            };
            prop_assert_eq!(there.says, turned, "{}", there.id);
        }
    }

    #[test]
    fn boundaries_fall_under_pocock_and_spend_alpha(steps in prop::collection::vec(0.01..1.0f64, 1..7), alpha in 0.001..0.3f64) {
        let total: f64 = steps.iter().sum();
        let fractions: Vec<f64> = steps
            .iter()
            .scan(0.0, |sum, step| {
                *sum += step / total;
                Some(f64::min(*sum, 1.0))
            })
            .collect();
        for spending in [Spending::Pocock, Spending::OBrienFleming] {
            let plan = group_sequential(&fractions, alpha, Sides::Two, spending).unwrap();
            prop_assert!(plan.looks.iter().all(|look| look.z.is_none_or(|z| z >= dist::normal_isf(0.5 * alpha).unwrap() - 1e-9)));
            prop_assert!(plan.looks.windows(2).all(|pair| pair[0].spent < pair[1].spent));
            let last = plan.looks[plan.looks.len() - 1];
            prop_assert!(close(last.spent, alpha, 1e-9) && last.fraction > 1.0 - 1e-9);
        }
    }

    #[test]
    fn the_tails_of_t_add_up_and_agree_with_the_interval((x, y) in close_arms(), alpha in 0.001..0.5) {
        let found = welch(&x, &y).unwrap();
        if let Some(test) = found.test {
            prop_assert!(close(test.p.less.value() + test.p.greater.value(), 1.0, 1e-14));
            let interval = found.interval(1.0 - alpha).unwrap().unwrap();
            let p = test.p.two_sided.value();
            prop_assert!(close(p, alpha, 1e-9) || interval.contains(0.0) == (p > alpha));
            let smaller = (x.len().min(y.len()) - 1) as f64;
            let both = (x.len() + y.len() - 2) as f64;
            prop_assert!(test.df >= smaller * (1.0 - 1e-12) && test.df <= both * (1.0 + 1e-12));
        }
    }

    #[test]
    fn equivalence_is_the_interval_inside_the_margin(
        (x, y) in close_arms(), margin in 0.01..2.0, alpha in 0.01..0.3,
    ) {
        let found = equivalence_absolute(&x, &y, margin).unwrap();
        if let Some(tests) = found.tests {
            let interval = welch(&x, &y).unwrap().interval(1.0 - 2.0 * alpha).unwrap().unwrap();
            let inside = -margin < interval.lower && interval.upper < margin;
            let p = tests.equivalent().value();
            prop_assert!(close(p, alpha, 1e-9) || inside == (p < alpha));
        }
    }

    #[test]
    fn a_limit_of_fieller_is_where_the_test_turns((x, y) in close_arms(), level in 0.5..0.99) {
        let found = ratio(&x, &y).unwrap().fieller(level).unwrap();
        if let Some(fieller) = found && let Bounds::Interval { lower, upper } = fieller.ratio {
            let (x, y) = (Moments::of(&x).unwrap(), Moments::of(&y).unwrap());
            let t = dist::student_t_isf(0.5 * (1.0 - level), fieller.df).unwrap();
            for limit in [lower, upper] {
                let distance = x.mean() - limit * y.mean();
                let error = x.standard_error().hypot(limit * y.standard_error());
                prop_assert!(close(distance.abs(), t * error, 1e-7), "{} {}", distance, t * error);
            }
        }
    }

    #[test]
    fn corrections_are_ordered(family in prop::collection::vec(-900.0..0.0f64, 1..20)) {
        let raw: Vec<_> = family.iter().map(|ln| PValue::from_ln(*ln).unwrap()).collect();
        let [bonferroni, holm, hochberg, bh, by] = [
            Correction::Bonferroni,
            Correction::Holm,
            Correction::Hochberg,
            Correction::BenjaminiHochberg,
            Correction::BenjaminiYekutieli,
        ]
        .map(|correction| correction.adjust(&raw));
        for index in 0..raw.len() {
            let at_most = |a: PValue, b: PValue| a.ln() <= b.ln() + 1e-12 * b.ln().abs();
            prop_assert!(at_most(raw[index], bh[index]) && at_most(bh[index], hochberg[index]));
            prop_assert!(at_most(hochberg[index], holm[index]) && at_most(holm[index], bonferroni[index]));
            prop_assert!(at_most(bh[index], by[index]));
        }
    }

    #[test]
    fn exact_and_conditional_agree_without_ties(order in Just((0..12).collect::<Vec<i32>>()).prop_shuffle(), n in 1usize..12) {
        let value = |rank: &i32| f64::from(*rank);
        let (x, y) = order.split_at(n);
        let (x, y) = (sample(x.iter().map(value).collect()), sample(y.iter().map(value).collect()));
        let exact = mann_whitney(&x, &y, RankMethod::Exact).unwrap().p;
        let conditional = mann_whitney(&x, &y, RankMethod::ExactConditional).unwrap().p;
        for (a, b) in [
            (exact.less, conditional.less),
            (exact.greater, conditional.greater),
            (exact.two_sided, conditional.two_sided),
        ] {
            prop_assert!(close(a.value(), b.value(), 1e-12));
        }
    }

    #[test]
    fn a_quantile_of_t_is_the_inverse_of_its_tail(ln_q in -600.0..-1e-9f64, ln_df in 0.0..20.0f64) {
        let (q, df) = (ln_q.exp(), ln_df.exp());
        let t = dist::student_t_isf(q, df).unwrap();
        prop_assert!(close(dist::student_t_sf(t, df).unwrap().value, q, 1e-10));
    }

    #[test]
    fn no_p_value_prints_as_zero(ln in -5_000.0..0.0f64) {
        let text = PValue::from_ln(ln).unwrap().to_string();
        prop_assert!(text.chars().any(|c| ('1'..='9').contains(&c)), "{}", text);
        prop_assert!(ln > -7.0 || text.contains('e'), "{}", text);
    }

    #[test]
    fn segments_are_the_best_of_all(steps in prop::collection::vec(-20i32..20, 4..10), factor in 0.2..4.0f64) {
        let series = sample(steps.iter().map(|step| f64::from(*step)).collect());
        let found = change_points(&series, factor).unwrap();
        let n = steps.len();
        let squares = |start: usize, end: usize| {
            let moments = Moments::of_values(&series.values()[start..end]);
            moments.sd() * moments.sd() * ((end - start) as f64 - 1.0)
        };
        // Every set of starts is a bit pattern.
        let best = (0u32..1 << n).map(|mask| {
            let mut starts: Vec<usize> = (0..n).filter(|start| mask >> start & 1 == 1 && *start > 0).collect();
            starts.insert(0, 0);
            starts.push(n);
            if starts.windows(2).any(|pair| pair[1] - pair[0] < 2) {
                return f64::INFINITY;
            }
            let cost: f64 = starts.windows(2).map(|pair| squares(pair[0], pair[1])).sum();
            cost + found.penalty * (starts.len() - 2) as f64
        });
        let best = best.fold(f64::INFINITY, f64::min);
        prop_assert!((found.objective - best).abs() <= 1e-9 * best.max(1.0), "{} {}", found.objective, best);
    }

    #[test]
    fn one_stratum_is_the_uncorrected_rank_test((x, y) in close_arms()) {
        let stratified = van_elteren(&[(&x, &y)]).unwrap();
        let plain = mann_whitney(&x, &y, RankMethod::Asymptotic { continuity: false }).unwrap();
        prop_assert!(close(stratified.p.two_sided.value(), plain.p.two_sided.value(), 1e-12));
    }

    #[test]
    fn weights_of_a_quantile_are_those_of_a_mean(n in 1usize..300, p in 0.001..0.999f64) {
        let weights = HarrellDavis::new(n, p).unwrap();
        prop_assert!(close(weights.of_sorted(&vec![3.25; n]).unwrap(), 3.25, 0.0));
        let ramp: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let estimate = weights.of_sorted(&ramp).unwrap();
        prop_assert!((0.0..=(n - 1) as f64).contains(&estimate));
        // The mean of the weights' ranks is that of a beta variable, to within the width of a step.
        prop_assert!((estimate + 0.5 - n as f64 * p).abs() <= 0.5 + 1e-9, "{}", estimate);
    }

    #[test]
    fn an_interval_of_a_quantile_keeps_its_level(n in 1usize..400, p in 0.01..0.99f64, level in 0.5..0.999f64) {
        let ramp = sample((0..n).map(|i| i as f64).collect());
        let found = quantile_interval(&ramp, p, level).unwrap();
        prop_assert!(found.coverage >= level - 1e-12);
        prop_assert!(found.lower_rank <= found.upper_rank);
        prop_assert_eq!(found.lower.is_some(), found.lower_rank > 0);
        prop_assert_eq!(found.upper.is_some(), found.upper_rank <= n);
    }

    #[test]
    fn power_grows_with_n_and_meets_the_detectable_effect(n in 3usize..60, power in 0.2..0.95f64, sd in 0.1..10.0f64) {
        let design = Design { sd_treatment: sd, sd_control: 1.0, alpha: 0.05, two_sided: true };
        let effect = design.detectable(power, n, n).unwrap();
        prop_assert!(close(design.power(effect, n, n).unwrap().power, power, 1e-9));
        prop_assert!(design.power(effect, n + 1, n + 1).unwrap().power > power);
        let needed = design.needed_n(effect, power - 1e-6).unwrap();
        prop_assert!(needed <= n, "{} {}", needed, n);
    }
}
