//! One estimate from the estimates of several hosts.

use super::dist::{chi_squared_sf, normal_isf, student_t_isf};
use super::interval::alpha_of;
use super::moments::Sum;
use super::root::root;
use super::{Interval, Moments, PValue, StatsError};

/// The estimate of one stratum with its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StratumEstimate {
    /// The estimate, for example the logarithm of a ratio.
    pub value: f64,
    /// The square of its standard error.
    pub variance: f64,
}

impl StratumEstimate {
    /// Estimates the logarithm of the ratio of two means, with the variance of the delta method.
    ///
    /// # Errors
    ///
    /// [`StatsError::NonPositive`] unless both means are above zero.
    pub fn ln_ratio(treatment: &Moments, control: &Moments) -> Result<Self, StatsError> {
        if treatment.mean() <= 0.0 || control.mean() <= 0.0 {
            return Err(StatsError::NonPositive);
        }
        let change = treatment.difference(control) / control.mean();
        let ratio = treatment.mean() / control.mean();
        let value = if change.abs() < 0.5 { change.ln_1p() } else { ratio.ln() };
        let square = |moments: &Moments| {
            let relative = moments.standard_error() / moments.mean();
            relative * relative
        };
        Ok(Self { value, variance: square(treatment) + square(control) })
    }
}

/// A combination of estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combined {
    /// The combined estimate.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// A combination of the estimates of several strata under fixed and random effects.
#[derive(Clone, Debug, PartialEq)]
pub struct MetaAnalysis {
    /// The combination that assumes the same effect in all strata, weighted by inverse variances.
    pub fixed: Combined,
    /// Cochran's Q: squared distances from the fixed effect.
    pub q: f64,
    /// The p-value of "the effect is the same in all strata".
    pub q_p: PValue,
    /// Share of the variation that is between strata, 0 to 1.
    pub i2: f64,
    /// Variance between strata after DerSimonian and Laird (1986), for comparison.
    pub tau2_dersimonian_laird: f64,
    /// Variance between strata after Paule and Mandel (1982), robust.
    pub tau2_paule_mandel: f64,
    /// Variance between strata by restricted maximum likelihood (Viechtbauer 2010), the one to take.
    pub tau2_reml: f64,
    strata: Vec<StratumEstimate>,
}

/// Combines the estimates of at least two strata. With two, intervals are too wide to be of use: show the strata.
///
/// # Errors
///
/// [`StatsError::Empty`], [`StatsError::TooFewStrata`] for one stratum, [`StatsError::NonFinite`],
/// [`StatsError::ZeroVarianceBoth`] for an estimate of variance 0.
pub fn meta_analysis(strata: &[StratumEstimate]) -> Result<MetaAnalysis, StatsError> {
    match strata.len() {
        0 => return Err(StatsError::Empty),
        1 => return Err(StatsError::TooFewStrata { found: 1 }),
        _ => {}
    }
    if strata.iter().any(|stratum| !stratum.value.is_finite() || !stratum.variance.is_finite()) {
        return Err(StatsError::NonFinite);
    }
    if strata.iter().any(|stratum| stratum.variance <= 0.0) {
        return Err(StatsError::ZeroVarianceBoth);
    }
    let df = strata.len() as f64 - 1.0;
    let fixed = Weighted::at(strata, 0.0);
    let q = fixed.squares(1);
    let dersimonian_laird = ((q - df) / (fixed.total(1) - fixed.total(2) / fixed.total(1))).max(0.0);
    let scale = strata.iter().map(|stratum| stratum.variance).fold(0.0, f64::max) + dersimonian_laird;
    Ok(MetaAnalysis {
        fixed: Combined { value: fixed.mean, standard_error: fixed.total(1).sqrt().recip() },
        q,
        q_p: chi_squared_sf(q, df)?.into(),
        i2: if q > 0.0 { ((q - df) / q).max(0.0) } else { 0.0 },
        tau2_dersimonian_laird: dersimonian_laird,
        tau2_paule_mandel: first_root(scale, |tau2| Weighted::at(strata, tau2).squares(1) - df),
        tau2_reml: first_root(scale, |tau2| {
            let weighted = Weighted::at(strata, tau2);
            weighted.squares(2) - (weighted.total(1) - weighted.total(2) / weighted.total(1))
        }),
        strata: strata.to_vec(),
    })
}

/// Where a function that starts positive turns negative; 0 if it starts at or below zero.
fn first_root(scale: f64, f: impl Fn(f64) -> f64) -> f64 {
    if f(0.0) <= 0.0 {
        return 0.0;
    }
    let mut high = scale;
    while f(high) > 0.0 && high < 1e300 {
        high *= 2.0;
    }
    root(0.0, high, f)
}

/// Strata weighted by the inverse of their variance plus that between strata.
struct Weighted<'a> {
    strata: &'a [StratumEstimate],
    tau2: f64,
    mean: f64,
}

impl<'a> Weighted<'a> {
    fn at(strata: &'a [StratumEstimate], tau2: f64) -> Self {
        let mut weighted = Self { strata, tau2, mean: 0.0 };
        let sum = Sum::of(strata.iter().map(|stratum| weighted.weight(stratum) * stratum.value));
        weighted.mean = sum / weighted.total(1);
        weighted
    }

    fn weight(&self, stratum: &StratumEstimate) -> f64 {
        (stratum.variance + self.tau2).recip()
    }

    /// The sum of a power of the weights.
    fn total(&self, power: i32) -> f64 {
        Sum::of(self.strata.iter().map(|stratum| self.weight(stratum).powi(power)))
    }

    /// The squared distances from the mean, weighted by a power of the weights.
    fn squares(&self, power: i32) -> f64 {
        Sum::of(self.strata.iter().map(|stratum| {
            let distance = stratum.value - self.mean;
            self.weight(stratum).powi(power) * distance * distance
        }))
    }
}

impl MetaAnalysis {
    /// Returns the interval of the fixed effect.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn fixed_interval(&self, level: f64) -> Result<Interval, StatsError> {
        normal_interval(self.fixed, level)
    }

    /// Returns the combination of DerSimonian and Laird (1986), for comparison.
    pub fn dersimonian_laird(&self) -> Combined {
        let weighted = Weighted::at(&self.strata, self.tau2_dersimonian_laird);
        Combined { value: weighted.mean, standard_error: weighted.total(1).sqrt().recip() }
    }

    /// Returns the interval of [`MetaAnalysis::dersimonian_laird`], too narrow for few strata.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn dersimonian_laird_interval(&self, level: f64) -> Result<Interval, StatsError> {
        normal_interval(self.dersimonian_laird(), level)
    }

    /// Returns the combination under random effects with the standard error of Hartung and Knapp (2001), from the
    /// REML variance between strata.
    pub fn random(&self) -> Combined {
        let weighted = Weighted::at(&self.strata, self.tau2_reml);
        let df = self.strata.len() as f64 - 1.0;
        let scale = weighted.squares(1) / df;
        Combined { value: weighted.mean, standard_error: (scale / weighted.total(1)).sqrt() }
    }

    /// Returns the interval of [`MetaAnalysis::random`], with t on one degree of freedom less than strata (IntHout et al.
    /// 2014): where the mean effect over hosts lies.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn random_interval(&self, level: f64) -> Result<Interval, StatsError> {
        let combined = self.random();
        let reach = self.t(level)? * combined.standard_error;
        Ok(Interval::around(combined.value, reach, level))
    }

    /// Returns where the effect on the next host will lie.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn prediction_interval(&self, level: f64) -> Result<Interval, StatsError> {
        let combined = self.random();
        let spread = (self.tau2_reml + combined.standard_error * combined.standard_error).sqrt();
        Ok(Interval::around(combined.value, self.t(level)? * spread, level))
    }

    fn t(&self, level: f64) -> Result<f64, StatsError> {
        student_t_isf(0.5 * alpha_of(level)?, self.strata.len() as f64 - 1.0)
    }
}

fn normal_interval(combined: Combined, level: f64) -> Result<Interval, StatsError> {
    let z = normal_isf(0.5 * alpha_of(level)?)?;
    Ok(Interval::around(combined.value, z * combined.standard_error, level))
}
