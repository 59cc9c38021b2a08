//! Pure numerics: what a sample says, and how surely.
//!
//! # Conventions
//!
//! * The order of arguments is always `(treatment, control)`, and a difference, a t, a d, a delta or a shift is
//!   always *treatment minus control*. "Less" and "greater" say where the treatment lies. Whether that is
//!   an improvement is not for this module to say.
//! * Functions are pure: no clock, no locale, no randomness but that of a seed in the arguments ([`rng`]). The
//!   same arguments give the same bits.
//! * Bad input is an [`StatsError`] with a stable code. A degenerate sample is not bad input: the result has a
//!   [`Status`], and what does not exist is `None`. There is no NaN in any result.
//! * A p-value is a [`PValue`]: a tail computed as a tail, with its logarithm, and never zero.
//! * Observations are pivoted and summed with compensation, so that an offset of 1e12 costs no digit, and
//!   rescaling all observations by a power of two leaves every dimensionless number bit for bit as it was.
//! * Observations and means are at most 1e300 in magnitude.
//! * Levels lie between 0 and 1, both excluded; 0.95 means 95 %.
//!
//! # What to ask
//!
//! | question | functions |
//! |---|---|
//! | what is in one sample | [`Summary`], [`mean_interval`], [`quantile_interval`], [`harrell_davis`] |
//! | by how much do two means differ | [`welch`], [`yuen`], [`ratio`], [`geometric_ratio`]; in pairs [`paired_t`], [`paired_ratio()`] |
//! | is one arm noisier | [`spread_ratio`] |
//! | is the difference within a margin | [`equivalence_absolute`], [`equivalence_relative`], [`Welch::against`] |
//! | how large is it against the noise | [`effect_size`], [`cliffs_delta`] |
//! | do ranks agree | [`mann_whitney`], [`brunner_munzel`], [`hodges_lehmann`]; in pairs [`signed_rank`], [`sign_test`], [`walsh_ratio`] |
//! | does resampling agree | [`permutation`], [`bootstrap()`], [`quantile_difference`] |
//! | do methods with other assumptions agree | [`panel()`] |
//! | what must a reader know | [`shapiro_wilk`], [`tukey_outliers`], [`Autocorrelation`], [`trend()`] |
//! | did it settle, is it of one piece, was the clock fine enough | [`steady_state`], [`warm_up_length`], [`modality()`], [`Resolution`] |
//! | which n would decide | [`Design::needed_n`], [`Design::detectable`], [`mann_whitney_smallest_p`] |
//! | several hypotheses, cells, switches, hosts, looks | [`Correction`], [`geometric_mean()`], [`factorial_2x2`], [`meta_analysis`], [`sign_stream`], [`group_sequential()`] |
//!
//! # Example
//!
//! ```
//! use harness::stats::{Sample, StatsError, ratio, welch};
//!
//! let control = Sample::new(vec![8.30, 8.41, 8.35, 8.38])?;
//! let treatment = Sample::new(vec![0.171, 0.168, 0.176, 0.170])?;
//!
//! let test = welch(&treatment, &control)?.test.expect("the arms vary");
//! assert_eq!(test.p.two_sided.to_string(), "4.5e-8");
//!
//! let change = ratio(&treatment, &control)?.fieller(0.95)?.expect("the arms vary").change;
//! assert!(change.interval(0.95).is_some_and(|interval| interval.upper < -0.97));
//! # Ok::<(), StatsError>(())
//! ```

// Foundations.
pub mod dist;
mod error;
mod interval;
mod moments;
mod p_value;
pub mod rng;
mod root;
mod sample;
mod status;

// One sample.
mod anderson_darling;
mod clock;
mod harrell_davis;
mod modality;
mod moment_tests;
mod outliers;
mod quantile;
mod quantile_interval;
mod shapiro_wilk;
mod summary;

// Two means.
mod effect_size;
mod equivalence;
mod power;
mod ratio;
mod spread_ratio;
mod variance_tests;
mod welch;
mod wilson;
mod yuen;

// Two arms by ranks.
mod brunner_munzel;
mod dominance;
mod hodges_lehmann;
mod mann_whitney;
mod radix;
mod rank_sum;
mod select;

// Two arms by resampling.
mod bootstrap;
mod parallel;
mod permutation;

// Order and time.
mod autocorrelation;
mod change_points;
mod group_sequential;
mod sequential;
mod steadiness;
mod trend;
mod warm_up;

// Designs and families.
mod additivity;
mod factorial;
mod geometric_mean;
mod meta;
mod multiplicity;
mod paired;
mod paired_ratio;
pub mod panel;
mod signed_rank;
mod stratified;

#[cfg(test)]
mod extremes;
#[cfg(test)]
mod properties;

pub use additivity::{Additivity, additivity};
pub use anderson_darling::{AndersonDarling, anderson_darling};
pub use autocorrelation::{Autocorrelation, EffectiveSize, FirstOrder, LjungBox};
pub use bootstrap::{BcaInterval, Bootstrap, Estimand, bootstrap, bootstrap_by, bootstrap_relative_change};
pub use brunner_munzel::{BrunnerMunzel, brunner_munzel};
pub use change_points::{ChangePoints, Pettitt, change_points, pettitt};
pub use clock::{ENOUGH_QUANTA, MANY_TIES, Resolution};
pub use dominance::{CliffsDelta, cliffs_delta};
pub use effect_size::{EffectSize, Magnitude, Standardized, effect_size, effect_size_of_moments};
pub use equivalence::{
    Equivalence, Limit, Limits, equivalence_absolute, equivalence_absolute_of_moments, equivalence_geometric,
    equivalence_relative, equivalence_relative_of_moments,
};
pub use error::StatsError;
pub use factorial::{
    Cell, Contrast, ContrastRatio, Effect, Factorial2x2, MultiplicativeInteraction, factorial, factorial_2x2,
};
pub use geometric_mean::{GeometricMean, geometric_mean};
pub use group_sequential::{Decision, GroupSequential, Look, Sides, Spending, group_sequential, repeated_p};
pub use harrell_davis::{HarrellDavis, harrell_davis, quantile_difference, quantile_ratio};
pub use hodges_lehmann::{HodgesLehmann, ShiftInterval, hodges_lehmann};
pub use interval::Interval;
pub use mann_whitney::{
    CONDITIONAL_PAIRS, EXACT_PAIRS, MannWhitney, RankMethod, mann_whitney, mann_whitney_null_cdf,
    mann_whitney_smallest_p,
};
pub use meta::{Combined, MetaAnalysis, StratumEstimate, meta_analysis};
pub use modality::{Modality, modality};
pub use moment_tests::{DAgostinoPearson, JarqueBera, dagostino_pearson, jarque_bera};
pub use moments::Moments;
pub use multiplicity::Correction;
pub use outliers::{MadOutliers, Scale, TukeyOutliers, mad_outliers, tukey_outliers};
pub use p_value::{PValue, Tail, Tails};
pub use paired::{Paired, paired_t, paired_t_of_ratios};
pub use paired_ratio::{PairedRatio, WalshRatio, paired_ratio, walsh_ratio};
pub use panel::{Panel, PanelAnswer, PanelOptions, Says, panel};
pub use permutation::{
    Labelings, Permutation, PermutationStatistic, monte_carlo_p, permutation, permutation_paired,
};
pub use power::{Design, Power};
pub use quantile::{median, quantile, supports_quantile};
pub use quantile_interval::{QuantileInterval, quantile_interval};
pub use ratio::{Bounds, Fieller, GeometricRatio, LogDelta, Ratio, geometric_ratio, ratio, ratio_of_moments};
pub use sample::Sample;
pub use sequential::{
    QuantileRanks, SignProcess, SignStream, ln_sign_evidence, mean_interval_anytime, quantile_ranks_anytime,
    sign_ranks, sign_stream,
};
pub use shapiro_wilk::{ShapiroWilk, shapiro_wilk};
pub use signed_rank::{
    Pseudomedian, PseudomedianInterval, SignTest, SignedRank, SignedRankTest, pseudomedian, sign_test,
    signed_rank,
};
pub use spread_ratio::{SpreadRatio, spread_ratio};
pub use status::Status;
pub use steadiness::{Steadiness, SteadyState, Stretch, steady_state};
pub use stratified::{Stratum, VanElteren, van_elteren};
pub use summary::{MAD_TO_SD, Shape, Spread, Summary, mean_interval};
pub use trend::{Trend, trend, trend_p};
pub use variance_tests::{FTest, VarianceTest, brown_forsythe, levene, variance_ratio};
pub use warm_up::warm_up_length;
pub use welch::{TTest, Welch, student, welch, welch_of_moments};
pub use wilson::wilson;
pub use yuen::{Yuen, yuen};
