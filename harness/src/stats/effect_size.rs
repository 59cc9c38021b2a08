//! Standardized differences of two means.

use std::f64::consts::PI;

use super::dist::{ln_beta, noncentral_t_cdf, noncentral_t_sf, normal_isf};
use super::interval::alpha_of;
use super::moments::scale_for;
use super::root::root;
use super::welch::pooled_sd;
use super::{Interval, Moments, Sample, StatsError, Status};

/// How large a standardized effect is by the usual words; they say nothing about whether it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Magnitude {
    /// |d| < 0.2, |delta| < 0.147.
    Negligible,
    /// |d| < 0.5, |delta| < 0.33.
    Small,
    /// |d| < 0.8, |delta| < 0.474.
    Medium,
    /// Anything larger.
    Large,
}

impl Magnitude {
    /// Classifies Cohen's d (Cohen 1988).
    pub fn of_d(d: f64) -> Self {
        Self::by_limits(d, [0.2, 0.5, 0.8])
    }

    /// Classifies Cliff's delta (Romano et al. 2006).
    pub fn of_delta(delta: f64) -> Self {
        Self::by_limits(delta, [0.147, 0.33, 0.474])
    }

    fn by_limits(effect: f64, [negligible, small, medium]: [f64; 3]) -> Self {
        match effect.abs() {
            size if size < negligible => Self::Negligible,
            size if size < small => Self::Small,
            size if size < medium => Self::Medium,
            _ => Self::Large,
        }
    }

    /// Returns the word.
    pub fn label(self) -> &'static str {
        match self {
            Self::Negligible => "negligible",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

/// The difference of two means in units of their spread. A huge d mostly says that the noise is small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectSize {
    /// `mean(treatment) - mean(control)`, in the unit of the observations.
    pub difference: f64,
    /// The pooled standard deviation, in the unit of the observations.
    pub pooled_sd: f64,
    /// [`Status::ZeroVarianceBoth`] when neither arm varies.
    pub status: Status,
    /// The standardized differences; `None` when neither arm varies.
    pub standardized: Option<Standardized>,
}

/// The standardized differences of arms that vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standardized {
    /// Cohen's d: `difference / pooled_sd`, with `pooled_sd^2` the mean of the variances weighted by `n - 1` (Cohen 1988).
    pub cohens_d: f64,
    /// The factor that takes the bias of small samples from d: `gamma(m/2) / (sqrt(m/2) gamma((m-1)/2))` for
    /// `m = n_t + n_c - 2` (Hedges 1981).
    pub hedges_factor: f64,
    /// Hedges' g: the factor times d.
    pub hedges_g: f64,
    /// Glass' delta: `difference / sd(control)`; `None` for a control that does not vary (Glass 1976).
    pub glass_delta: Option<f64>,
    /// `difference / sqrt((sd_t^2 + sd_c^2) / 2)`; equals d for arms of equal size (Bonett 2008).
    pub average_d: f64,
    treatment: Moments,
    control: Moments,
}

/// Estimates standardized effects from samples. O(n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations in an arm.
pub fn effect_size(treatment: &Sample, control: &Sample) -> Result<EffectSize, StatsError> {
    Ok(effect_size_of_moments(&Moments::of(treatment)?, &Moments::of(control)?))
}

/// Estimates standardized effects from moments; see [`effect_size`].
pub fn effect_size_of_moments(treatment: &Moments, control: &Moments) -> EffectSize {
    let difference = treatment.difference(control);
    let pooled = pooled_sd(treatment, control);
    // A difference too large for its spread is as good as one without any.
    let standardized = (pooled > 0.0 && (difference / pooled).is_finite()).then(|| {
        let cohens_d = difference / pooled;
        let hedges_factor = hedges_factor(treatment.size() + control.size() - 2.0);
        Standardized {
            cohens_d,
            hedges_factor,
            hedges_g: hedges_factor * cohens_d,
            glass_delta: (control.sd() > 0.0).then(|| difference / control.sd()),
            average_d: difference / average_sd(treatment, control),
            treatment: *treatment,
            control: *control,
        }
    });
    EffectSize {
        difference,
        pooled_sd: pooled,
        status: if standardized.is_some() { Status::Regular } else { Status::ZeroVarianceBoth },
        standardized,
    }
}

/// Hedges' exact correction for `df` degrees of freedom: `gamma(df/2) / (sqrt(df/2) gamma((df-1)/2))`.
fn hedges_factor(df: f64) -> f64 {
    (0.5 * PI.ln() - ln_beta(0.5 * (df - 1.0), 0.5) - 0.5 * (0.5 * df).ln()).exp()
}

fn average_sd(treatment: &Moments, control: &Moments) -> f64 {
    let scale = scale_for(treatment.sd().max(control.sd()));
    let square = |moments: &Moments| (moments.sd() * scale) * (moments.sd() * scale);
    (0.5 * (square(treatment) + square(control))).sqrt() / scale
}

impl Standardized {
    /// Returns the confidence interval of [`Standardized::average_d`] after Bonett (2008), which holds its level
    /// also when the variances differ by orders of magnitude: the one to show.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn bonett_interval(&self, level: f64) -> Result<Interval, StatsError> {
        let z = normal_isf(0.5 * alpha_of(level)?)?;
        let unit = average_sd(&self.treatment, &self.control);
        // Roots of the parts of the variance, because the square of a huge d would overflow.
        let part = |moments: &Moments| {
            let relative = moments.sd() / unit;
            let df = moments.size() - 1.0;
            let of_spread = self.average_d * (relative * relative) / (8.0 * df).sqrt();
            of_spread.hypot(relative / df.sqrt())
        };
        let error = part(&self.treatment).hypot(part(&self.control));
        Ok(Interval::around(self.average_d, z * error, level))
    }

    /// Returns the variance of g for large samples, `1/n_t + 1/n_c + g^2 / (2 (n_t + n_c))` (Hedges 1981).
    pub fn hedges_variance(&self) -> f64 {
        let (n_treatment, n_control) = (self.treatment.size(), self.control.size());
        n_treatment.recip()
            + n_control.recip()
            + self.hedges_g * self.hedges_g / (2.0 * (n_treatment + n_control))
    }

    /// Returns the interval of g from [`Standardized::hedges_variance`]. It assumes equal variances and falls
    /// short of its level without them.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn hedges_interval(&self, level: f64) -> Result<Interval, StatsError> {
        let z = normal_isf(0.5 * alpha_of(level)?)?;
        Ok(Interval::around(self.hedges_g, z * self.hedges_variance().sqrt(), level))
    }

    /// Returns the interval of d by inversion of the noncentral t (Steiger and Fouladi 1997): exact for normal
    /// observations of equal variance, short of its level without it. Times the Hedges factor, it is one of g.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn noncentral_interval(&self, level: f64) -> Result<Interval, StatsError> {
        let alpha = alpha_of(level)?;
        let (n_treatment, n_control) = (self.treatment.size(), self.control.size());
        let df = n_treatment + n_control - 2.0;
        let root_n = (n_treatment * n_control / (n_treatment + n_control)).sqrt();
        let t = self.cohens_d * root_n;
        let target = 0.5 * alpha;
        let step = normal_isf(target.min(0.4))? * (1.0 + t * t / (2.0 * df)).sqrt();
        let excess = |ncp: f64, upper: bool| {
            let tail = if upper { noncentral_t_sf(t, df, ncp) } else { noncentral_t_cdf(t, df, ncp) };
            tail.map_or(f64::NAN, |tail| tail.value - target)
        };
        let limit = |upper: bool| {
            let direction = if upper { -1.0 } else { 1.0 };
            let mut reach = step;
            while excess(t + direction * reach, upper) > 0.0 && reach < 1e6 * step {
                reach *= 2.0;
            }
            root(t - direction * reach, t + direction * reach, |ncp| excess(ncp, upper))
        };
        Ok(Interval { lower: limit(true) / root_n, upper: limit(false) / root_n, level })
    }
}
