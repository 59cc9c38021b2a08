//! Where a value lies on an axis. The one place that decides ranges: an axis has two finite ends that differ,
//! whatever the data, so nothing that is drawn can be off the picture and no loop over ticks can be endless.

use super::error::{PlotError, drawable};
use crate::vocab::significant;

/// Arms that differ by more than this factor are shown on a logarithmic axis.
pub(super) const LOG_FROM: f64 = 20.0;

/// How values turn into positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Equal differences are equally long.
    Linear,
    /// Equal factors are equally long; for positive values.
    Log,
    /// Linear from -1 to 1, logarithmic beyond; for shares that may be huge and of either sign.
    Symlog,
}

impl Kind {
    /// Logarithmic if the `centers` of the arms differ by more than a factor of [`LOG_FROM`] and every value
    /// is positive, and that factor.
    pub(super) fn for_arms(centers: &[f64], least: f64) -> (Self, f64) {
        let low = centers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = centers.iter().copied().fold(0.0, f64::max);
        let factor = if low > 0.0 { high / low } else { 1.0 };
        (if least > 0.0 && factor > LOG_FROM { Self::Log } else { Self::Linear }, factor)
    }

    /// Linear if all shares are of the order of 1.
    pub(super) fn for_shares(shares: &[f64]) -> Self {
        if shares.iter().all(|it| it.abs() <= 1.5) { Self::Linear } else { Self::Symlog }
    }

    fn forward(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            // `libm` gives the same bits on every platform, which `f64::log10` does not promise.
            Self::Log => libm::log10(value.max(1e-307)),
            Self::Symlog if value.abs() <= 1.0 => value,
            Self::Symlog => value.signum() * (1.0 + libm::log10(value.abs())),
        }
    }
}

/// An axis over a range of values and a range of pixels.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    kind: Kind,
    /// Ends in values turned by `kind`; `low < high`, both finite.
    low: f64,
    high: f64,
    /// The pixel of `low` and the pixel of `high`, in any order.
    pixels: (i32, i32),
}

impl Axis {
    /// An axis on which all `values` have a place, with a little room round them.
    ///
    /// A logarithmic axis needs positive values, or shows them at its low end.
    pub(super) fn over(
        kind: Kind,
        values: impl IntoIterator<Item = f64>,
        pixels: (i32, i32),
    ) -> Result<Self, PlotError> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            let value = drawable(value, "an axis")?;
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            return Err(PlotError::Nothing { what: "values" });
        }
        let (low, high) = (kind.forward(low), kind.forward(high));
        let size = low.abs().max(high.abs());
        // Closer than this they cannot be told apart by labels: drawn as constant.
        let (low, high) = if high - low >= (size * 1e-9).max(1e-299) {
            let room = (high - low) * 0.04;
            (low - room, high + room)
        } else if size == 0.0 {
            (-0.08, 1.0)
        } else {
            let half = if kind == Kind::Linear { (size * 0.05).max(1e-299) } else { 0.5 };
            (low - half, high + half)
        };
        Ok(Self { kind, low, high, pixels })
    }

    /// The pixel of `value`; the nearer end for a value that is not on the axis.
    pub(super) fn at(&self, value: f64) -> i32 {
        let share = ((self.kind.forward(value) - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let (from, to) = self.pixels;
        from + (share * f64::from(to - from)).round() as i32
    }

    /// How it turns values into positions.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Its ends, in pixels.
    pub(super) fn ends(&self) -> (i32, i32) {
        self.pixels
    }

    /// About `wanted` round values on the axis, the most important first.
    pub(super) fn ticks(&self, wanted: i32) -> Vec<f64> {
        match self.kind {
            Kind::Linear => self.steps(self.step(wanted)),
            Kind::Log => self.decades(wanted),
            Kind::Symlog => self.signed_decades(wanted),
        }
    }

    /// Round values with their texts; as many digits as it takes to tell them apart.
    pub(super) fn labels(&self, wanted: i32) -> Vec<(f64, String)> {
        let step = exponent(self.step(wanted));
        let digits = |tick: f64| (exponent(tick) - step + 1).clamp(1, 15) as usize;
        let text = |tick: f64| match self.kind {
            Kind::Linear => significant(tick, digits(tick)),
            Kind::Log | Kind::Symlog => significant(tick, 1),
        };
        self.ticks(wanted).into_iter().map(|tick| (tick, text(tick))).collect()
    }

    /// The distance of ticks on a linear axis: 1, 2 or 5 times a power of ten.
    fn step(&self, wanted: i32) -> f64 {
        let raw = (self.high - self.low) / f64::from(wanted.max(1));
        let decade = power(exponent(raw));
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|it| it * decade).find(|it| *it >= raw * 0.9);
        step.unwrap_or(raw)
    }

    fn steps(&self, step: f64) -> Vec<f64> {
        let first = (self.low / step).ceil();
        // Multiplied, not added up, and divided where that is exact: 0.3, not 0.30000000000000004.
        let inverse = (1.0 / step).round();
        let exact = (inverse * step - 1.0).abs() < 1e-9 && inverse < 1e15;
        let tick = |i: i32| {
            let n = first + f64::from(i);
            if exact { n / inverse } else { n * step }
        };
        (0..40).map(tick).take_while(|it| *it <= self.high).map(|it| it + 0.0).collect()
    }

    fn decades(&self, wanted: i32) -> Vec<f64> {
        let (first, last) = (self.low.floor() as i32, self.high.ceil() as i32);
        let inside = |tick: &f64| (self.low..=self.high).contains(&self.kind.forward(*tick));
        let spread = self.high - self.low;
        if spread < 1.0 {
            let (low, high) = (power_of(self.low), power_of(self.high));
            let plain = Self { kind: Kind::Linear, low, high, pixels: self.pixels };
            return plain.steps(plain.step(wanted)).into_iter().filter(inside).collect();
        }
        let every = ((spread / f64::from(wanted.max(1))).ceil() as i32).max(1);
        let within: &[f64] = if spread < 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        (first..=last)
            .filter(|k| k.rem_euclid(every) == 0)
            .flat_map(|k| within.iter().map(move |it| it * power(k)))
            .filter(inside)
            .collect()
    }

    fn signed_decades(&self, wanted: i32) -> Vec<f64> {
        let decades = self.high.max(-self.low).ceil() as i32;
        let every = (decades.max(1) * 2 / wanted.max(1)).max(1);
        let mut ticks = vec![0.0, 1.0, -1.0];
        for k in (every..=decades).step_by(every as usize) {
            ticks.extend([power(k), -power(k)]);
        }
        ticks.extend([0.5, -0.5]);
        ticks.retain(|it| (self.low..=self.high).contains(&self.kind.forward(*it)));
        ticks
    }
}

/// The decimal exponent of `value`; 0 for 0.
fn exponent(value: f64) -> i32 {
    if value == 0.0 { 0 } else { libm::floor(libm::log10(value.abs()) + 1e-9) as i32 }
}

/// Ten to the power of `exponent`, correctly rounded.
fn power(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(1.0)
}

/// Ten to a power that need not be whole.
fn power_of(exponent: f64) -> f64 {
    libm::pow(10.0, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(kind: Kind, values: &[f64]) -> Vec<String> {
        let axis = Axis::over(kind, values.iter().copied(), (0, 500)).unwrap();
        assert!(axis.low < axis.high && (axis.high - axis.low).is_finite());
        axis.labels(5).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_their_texts_differ() {
        assert_eq!(labels(Kind::Linear, &[0.0, 1.0]), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Kind::Linear, &[698.0, 731.0]), ["700", "710", "720", "730"]);
        assert_eq!(labels(Kind::Log, &[0.02, 700.0]), ["0.1", "1", "10", "100", "1,000"]);
        assert_eq!(labels(Kind::Log, &[20.0, 700.0]), ["20", "50", "100", "200", "500"]);
        assert_eq!(labels(Kind::Symlog, &[-30.0, 0.9]), ["0", "1", "-1", "-10", "0.5", "-0.5"]);
    }

    #[test]
    fn every_finite_range_has_ends_that_differ() {
        let odd: [&[f64]; 9] = [
            &[5.0; 3],
            &[0.0],
            &[1e9, 1_000_000_000.000_000_1],
            &[-1e300, 1e300],
            &[1e-300, 1e300],
            &[1e-300],
            &[5e-324, 1e-320],
            &[-7.0, -7.0],
            &[1e300],
        ];
        for values in odd {
            for kind in [Kind::Linear, Kind::Log, Kind::Symlog] {
                let labels = labels(kind, values);
                assert!(labels.len() < 45, "{kind:?} {values:?}: {labels:?}");
            }
        }
    }

    #[test]
    fn what_has_no_place_is_refused() {
        for values in [vec![], vec![f64::NAN], vec![1.0, f64::INFINITY], vec![2e300]] {
            assert!(Axis::over(Kind::Linear, values, (0, 1)).is_err());
        }
    }
}
