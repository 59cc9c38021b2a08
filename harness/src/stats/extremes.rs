//! No finite sample may give a NaN or a panic, however odd.

use std::fmt::Debug;

use proptest::prelude::*;

use super::panel::Null;
use super::*;

/// Samples of any finite numbers, of few different ones, of tiny and of huge ones.
fn any_sample() -> impl Strategy<Value = Sample> {
    let numbers = prop_oneof![
        (prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO).boxed(),
        prop::sample::select(vec![0.0, -0.0, 1.0, 1.0 + f64::EPSILON, -1.0, 1e-308, 1e308]).boxed(),
        (0i32..4).prop_map(f64::from).boxed(),
        (0i32..4).prop_map(|step| 1e12 + f64::from(step)).boxed(),
        (0i32..4).prop_map(|step| 1e-300 * f64::from(step)).boxed(),
        (0.0..1.0).boxed(),
    ];
    prop_oneof![
        prop::collection::vec(numbers, 1..14),
        (prop::num::f64::NORMAL, 1usize..14).prop_map(|(value, n)| vec![value; n]),
        prop::collection::vec(0i32..3, 1..14).prop_map(|v| v.into_iter().map(f64::from).collect()),
        prop::collection::vec(1.0..2.0, 1..14),
    ]
    .prop_map(|values: Vec<f64>| {
        Sample::new(values.into_iter().map(|value| value.clamp(-1e300, 1e300)).collect()).unwrap()
    })
}

/// The text of a result holds every number of it.
#[track_caller]
fn sane(what: &str, result: &impl Debug) -> Result<(), TestCaseError> {
    let text = format!("{result:?}");
    prop_assert!(!text.contains("NaN"), "{what}: {text}");
    prop_assert!(!text.contains("ln: -inf"), "a p-value of zero, {what}: {text}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_sample(x in any_sample(), p in 0.001..0.999f64) {
        sane("summary", &Summary::of(&x))?;
        sane("mean_interval", &mean_interval(&x, p))?;
        sane("quantile", &quantile(&x, p))?;
        sane("quantile_interval", &quantile_interval(&x, p, 0.9))?;
        sane("harrell_davis", &harrell_davis(&x, p))?;
        sane("tukey", &tukey_outliers(&x))?;
        sane("mad", &mad_outliers(&x))?;
        sane("shapiro", &shapiro_wilk(&x))?;
        sane("anderson", &anderson_darling(&x))?;
        sane("jarque", &jarque_bera(&x))?;
        sane("dagostino", &dagostino_pearson(&x))?;
        let series = Autocorrelation::of(&x);
        sane("autocorrelation", &series)?;
        if let Ok(series) = series {
            sane("ljung_box", &series.ljung_box(series.usual_lags()))?;
            sane("effective_size", &series.effective_size())?;
            sane("von_neumann", &series.von_neumann())?;
        }
        sane("trend", &trend(&x, p))?;
        sane("change_points", &change_points(&x, 3.0))?;
        sane("pettitt", &pettitt(&x))?;
        sane("warm_up", &warm_up_length(&x))?;
        sane("steady_state", &steady_state(&x, true, 0.01))?;
        sane("modality", &modality(&x, 5))?;
        sane("resolution", &Resolution::of(&x))?;
        sane("mean_interval_anytime", &mean_interval_anytime(&x, p, 30))?;
    }

    #[test]
    fn two_arms(x in any_sample(), y in any_sample(), level in 0.01..0.999f64) {
        if let Ok(found) = welch(&x, &y) {
            sane("welch", &(found, found.interval(level), found.against(1.0)))?;
        }
        if let Ok(found) = ratio(&x, &y) {
            sane("ratio", &(found, found.inverse()))?;
            sane("fieller", &found.fieller(level))?;
            sane("log_delta", &found.log_delta(level))?;
        }
        if let Ok(found) = geometric_ratio(&x, &y) {
            sane("geometric", &(found, found.interval(level)))?;
        }
        if let Ok(found) = yuen(&x, &y, 0.4 * level) {
            sane("yuen", &(found, found.trimmed.interval(level)))?;
        }
        if let Ok(found) = spread_ratio(&x, &y) {
            sane("spread_ratio", &(found, found.interval(level)))?;
        }
        sane("absolute", &equivalence_absolute(&x, &y, 0.5))?;
        sane("relative", &equivalence_relative(&x, &y, 0.05))?;
        if let Ok(found) = effect_size(&x, &y) {
            sane("effect", &found)?;
            if let Some(effect) = found.standardized {
                sane("bonett", &effect.bonett_interval(level))?;
                sane("hedges", &effect.hedges_interval(level))?;
            }
        }
        let delta = cliffs_delta(&x, &y);
        sane("delta", &(delta, delta.newcombe_interval(level), delta.cliff_interval(level)))?;
        sane("unbiased", &(delta.unbiased_interval(level), delta.consistent_variance()))?;
        for method in [RankMethod::Auto, RankMethod::AutoConditional, RankMethod::Asymptotic { continuity: true }] {
            sane("mann_whitney", &mann_whitney(&x, &y, method))?;
            sane("signed_rank", &signed_rank(&x, &y, method))?;
        }
        let shift = hodges_lehmann(&x, &y);
        sane("hodges_lehmann", &(shift.shift, shift.interval(level), shift.asymptotic_interval(level)))?;
        if let Ok(found) = brunner_munzel(&x, &y) {
            sane("brunner_munzel", &(found, found.interval(level)))?;
        }
        sane("brown_forsythe", &(brown_forsythe(&x, &y), levene(&x, &y), variance_ratio(&x, &y)))?;
        if let Ok(found) = paired_t(&x, &y) {
            sane("paired", &(found, found.interval(level), found.d_z()))?;
        }
        sane("sign_test", &sign_test(&x, &y))?;
        if let Ok(found) = pseudomedian(&x, &y) {
            sane("pseudomedian", &(found.value, found.interval(level)))?;
        }
        sane("van_elteren", &van_elteren(&[(&x, &y)]))?;
        let options = PanelOptions { alpha: 1.0 - level, resamples: 20, trim: 0.4 * level, paired: true, seed: 1, null: Null::Change(0.0) };
        // All ways to relabel a dozen observations are many, and seen often enough elsewhere.
        if x.len() + y.len() < 15 || x.len() + y.len() > 22 {
            sane("panel", &panel(&x, &y, options))?;
        }
        if let Ok(found) = bootstrap(&x, &y, Estimand::MeanRatio, 20, 3) {
            sane("bootstrap", &(found.bca_interval(level), found.percentile_interval(level), found))?;
        }
    }

    #[test]
    fn four_cells(cells in prop::collection::vec(any_sample(), 4), level in 0.01..0.999f64) {
        let cells: Vec<Cell> =
            cells.iter().map(|sample| Cell::of(sample).or_else(|_| Cell::of_mean(sample.max())).unwrap()).collect();
        if let Ok(found) = factorial_2x2(&cells) {
            sane("square", &found)?;
            sane("sub_additivity", &found.sub_additivity_set(level))?;
            sane("shortfall", &found.gain_shortfall_set(level))?;
            sane("multiplicative", &found.multiplicative_interaction(level))?;
        }
        if let Ok(found) = additivity(&cells) {
            sane("additivity", &(found.sub_additivity_set(level), found.gain_shortfall_set(level), found))?;
        }
        sane("factorial", &factorial(&cells))?;
    }
}

/// The quadrature is slow, so it sees fewer samples.
#[test]
fn noncentral_intervals_of_any_effect() {
    for t in [0.0, 1e-300, 1e-8, 0.1, 3.0, 40.0, 1e3, 1e6, 1e12, 1e200] {
        for n in [2, 5, 51, 10_000] {
            let treatment = Moments::from_summary(t, 1.0, n).unwrap();
            let control = Moments::from_summary(0.0, 1.0, n).unwrap();
            let effect = effect_size_of_moments(&treatment, &control).standardized.unwrap();
            let interval = effect.noncentral_interval(0.95).unwrap();
            assert!(!format!("{interval:?}").contains("NaN"), "{t} {n} {interval:?}");
            assert!(interval.lower <= interval.upper, "{t} {n} {interval:?}");
        }
    }
}
