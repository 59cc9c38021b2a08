//! Where a Brownian motion is that has not been stopped yet.

use crate::stats::dist::normal_sf;

/// `1 / sqrt(2 pi)`.
const INV_SQRT_2PI: f64 = 0.398_942_280_401_432_7;

/// Beyond this many standard deviations a normal density changes nothing.
const REACH: f64 = 9.0;

/// Nodes and weights of Gauss and Legendre's rule with 16 points, the positive half.
const NODES: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_4, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_87),
    (0.865_631_202_387_831_7, 0.095_158_511_682_492_78),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_89),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_095),
];

/// The density of the motion at one time over the places from which it goes on, as weighted points for integrals.
pub(super) struct Density {
    time: f64,
    /// Places, ascending, each with the probability that stands for it.
    points: Vec<(f64, f64)>,
}

impl Density {
    /// The motion at the first look, between the boundaries. `step` is the time to the next look.
    pub(super) fn first(time: f64, lower: Option<f64>, upper: Option<f64>, step: f64) -> Self {
        let sd = time.sqrt();
        Self::on(time, time, lower, upper, step, |place| {
            let z = place / sd;
            INV_SQRT_2PI / sd * (-0.5 * z * z).exp()
        })
    }

    /// The motion at a later look: the earlier density, blurred.
    pub(super) fn next(&self, time: f64, lower: Option<f64>, upper: Option<f64>, step: f64) -> Self {
        let sd = (time - self.time).sqrt();
        Self::on(time, time - self.time, lower, upper, step, |place| {
            let near = self.within(place - (REACH + 1.0) * sd, place + (REACH + 1.0) * sd);
            let sum: f64 = near
                .iter()
                .map(|(from, probability)| {
                    let z = (place - from) / sd;
                    probability * (-0.5 * z * z).exp()
                })
                .sum();
            INV_SQRT_2PI / sd * sum
        })
    }

    /// Integrates in panels narrower than what the density was blurred by and will be blurred by.
    fn on(
        time: f64,
        blur: f64,
        lower: Option<f64>,
        upper: Option<f64>,
        step: f64,
        density: impl Fn(f64) -> f64,
    ) -> Self {
        let far = REACH * time.sqrt();
        let (lower, upper) = (lower.unwrap_or(-far), upper.unwrap_or(far));
        let panels = ((upper - lower) / blur.min(step).sqrt()).ceil().max(1.0);
        let half = 0.5 * (upper - lower) / panels;
        let mut points = Vec::with_capacity(16 * panels as usize);
        for panel in 0..panels as usize {
            let center = lower + half * (2 * panel + 1) as f64;
            let falling = NODES.iter().rev().map(|(node, weight)| (-node, weight));
            for (node, weight) in falling.chain(NODES.iter().map(|(node, weight)| (*node, weight))) {
                let place = center + half * node;
                points.push((place, half * weight * density(place)));
            }
        }
        Self { time, points }
    }

    fn within(&self, low: f64, high: f64) -> &[(f64, f64)] {
        let start = self.points.partition_point(|(place, _)| *place < low);
        let end = self.points.partition_point(|(place, _)| *place <= high);
        &self.points[start..end]
    }

    /// The chance not to have been stopped before and to be above a place at a later time.
    pub(super) fn above(&self, place: f64, time: f64) -> f64 {
        let sd = (time - self.time).sqrt();
        self.points.iter().map(|(from, probability)| probability * normal_sf((place - from) / sd).value).sum()
    }
}
