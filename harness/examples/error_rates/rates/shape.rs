//! What samples are drawn from: mean 0, and deviation 1 where there is one.

use harness::stats::dist::{normal_isf, normal_sf, student_t_isf};
use harness::stats::rng::Rng;

/// The correlation of neighbors in the two that have one.
const PHI: f64 = 0.5;

/// A distribution of the samples of all arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Normal,
    /// The exponential of a standard normal.
    LogNormal,
    /// Seven of ten samples around one place, three around another that lies 5 of their deviations apart.
    Bimodal,
    /// Every arm is an autoregressive series of its own.
    Ar1,
    /// Half of the variance is an autoregressive series that all arms of a block have in common.
    SharedAr1,
    /// Student's t with 3 degrees of freedom.
    T3,
    /// Pareto with the exponent 1.5: a mean, but no deviation.
    Pareto,
    /// Normal, but the control varies five times as much as the treatment.
    Spreads,
}

impl Shape {
    pub(super) const ALL: [Self; 8] = [
        Self::Normal,
        Self::LogNormal,
        Self::Bimodal,
        Self::Ar1,
        Self::SharedAr1,
        Self::T3,
        Self::Pareto,
        Self::Spreads,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::LogNormal => "log-normal",
            Self::Bimodal => "bimodal",
            Self::Ar1 => "AR(1) 0.5 in each arm",
            Self::SharedAr1 => "AR(1) 0.5 of the blocks",
            Self::T3 => "t, 3 df",
            Self::Pareto => "Pareto 1.5",
            Self::Spreads => "spreads 5:1",
        }
    }

    /// Whether there is a standard deviation.
    pub(super) fn has_deviation(self) -> bool {
        self != Self::Pareto
    }

    /// The deviations of control and treatment where the larger of them is `sd`.
    pub(super) fn deviations(self, sd: f64) -> [f64; 2] {
        [sd, if self == Self::Spreads { 0.2 * sd } else { sd }]
    }

    /// `n` samples of each of `arms` arms.
    pub(super) fn draw(self, rng: &mut Rng, arms: usize, n: usize) -> Vec<Vec<f64>> {
        match self {
            Self::Ar1 => (0..arms).map(|_| ar1(rng, n, PHI)).collect(),
            Self::SharedAr1 => {
                let blocks = ar1(rng, n, PHI);
                let half = 0.5_f64.sqrt();
                (0..arms).map(|_| blocks.iter().map(|it| half * (it + normal(rng))).collect()).collect()
            }
            _ => (0..arms).map(|_| (0..n).map(|_| self.one(rng)).collect()).collect(),
        }
    }

    fn one(self, rng: &mut Rng) -> f64 {
        match self {
            Self::Normal | Self::Ar1 | Self::SharedAr1 | Self::Spreads => normal(rng),
            Self::LogNormal => log_normal(normal(rng)),
            Self::Bimodal => {
                let place = if unit(rng) < 0.7 { 0.0 } else { 5.0 };
                0.4 * (place + normal(rng) - 1.5)
            }
            Self::T3 => {
                let squares: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
                normal(rng) / squares.sqrt()
            }
            Self::Pareto => pareto(unit(rng)),
        }
    }

    /// The value below which a share `p` of the samples lies.
    pub(super) fn quantile(self, p: f64) -> f64 {
        let z = normal_isf(1.0 - p).expect("a share within 0 and 1");
        match self {
            Self::Normal | Self::Ar1 | Self::SharedAr1 | Self::Spreads => z,
            Self::LogNormal => log_normal(z),
            Self::Bimodal => {
                let below = |x: f64| 0.7 * normal_sf(-x).value + 0.3 * normal_sf(5.0 - x).value;
                let (mut low, mut high) = (-10.0, 15.0);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if below(middle) < p { low = middle } else { high = middle }
                }
                0.4 * (low - 1.5)
            }
            Self::T3 => student_t_isf(1.0 - p, 3.0).expect("a share within 0 and 1") / 3_f64.sqrt(),
            Self::Pareto => pareto(1.0 - p),
        }
    }
}

/// A number above 0 and below 1.
fn unit(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

pub(super) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * unit(rng).ln()).sqrt() * (std::f64::consts::TAU * unit(rng)).cos()
}

/// A stationary series of standard normals.
pub(super) fn ar1(rng: &mut Rng, n: usize, phi: f64) -> Vec<f64> {
    let fresh = (1.0 - phi * phi).sqrt();
    let mut last = normal(rng);
    let next = |_| {
        let value = last;
        last = phi * last + fresh * normal(rng);
        value
    };
    (0..n).map(next).collect()
}

/// From a standard normal.
fn log_normal(z: f64) -> f64 {
    let e = std::f64::consts::E;
    (z.exp() - e.sqrt()) / (e * (e - 1.0)).sqrt()
}

/// From the share above it. The unit is arbitrary: as wide in the middle as the others.
fn pareto(above: f64) -> f64 {
    0.5 * (above.powf(-1.0 / 1.5) - 3.0)
}
