//! How far a result can be moved by the rounding of what it is computed from.

use super::range::Range;

/// A number that a formula takes, and how far it may be from what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// As printed.
    pub value: f64,
    /// Half a unit of its last digit; 0 for an exact number.
    pub half: f64,
}

/// A result at the printed values, and what it can be within their rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// At the printed values.
    pub at: f64,
    /// From the least to the greatest; [`Range::ANY`] where it is not defined everywhere.
    pub range: Range,
}

/// Up to so many rounded inputs are tried at both ends and in the middle, all combinations.
const GRID: usize = 6;
/// Up to so many are tried at both ends.
const CORNERS: usize = 12;

impl Reach {
    /// An exact result.
    pub fn exact(at: f64) -> Self {
        Self { at, range: Range::point(at) }
    }

    /// The result of `formula`, moved as far as the rounding of the inputs allows; `None` if it is not defined at
    /// the printed values.
    ///
    /// Exact for a formula that is monotone in each input, which every one of the registry is in the little boxes of
    /// rounding. Beyond twelve rounded inputs, the moves by each of them are added up.
    pub fn of(inputs: &[Input], formula: impl Fn(&[f64]) -> Option<f64>) -> Option<Self> {
        let formula = |values: &[f64]| formula(values).filter(|it| it.is_finite());
        let mut values: Vec<f64> = inputs.iter().map(|it| it.value).collect();
        let at = formula(&values)?;
        let moved: Vec<usize> = (0..inputs.len()).filter(|it| inputs[*it].half > 0.0).collect();
        let mut range = Range::point(at);
        if moved.len() > CORNERS {
            for place in moved {
                let ends = [-1.0, 1.0].map(|sign| {
                    values[place] = inputs[place].value + sign * inputs[place].half;
                    formula(&values)
                });
                values[place] = inputs[place].value;
                let [Some(a), Some(b)] = ends else { return Some(Self { at, range: Range::ANY }) };
                range.low += a.min(b).min(at) - at;
                range.high += a.max(b).max(at) - at;
            }
            return Some(Self { at, range });
        }
        let steps: &[f64] = if moved.len() <= GRID { &[-1.0, 0.0, 1.0] } else { &[-1.0, 1.0] };
        for combination in 0..steps.len().pow(u32::try_from(moved.len()).unwrap_or(0)) {
            let mut rest = combination;
            for place in &moved {
                values[*place] = inputs[*place].value + steps[rest % steps.len()] * inputs[*place].half;
                rest /= steps.len();
            }
            let Some(value) = formula(&values) else { return Some(Self { at, range: Range::ANY }) };
            range = Range { low: range.low.min(value), high: range.high.max(value) };
        }
        Some(Self { at, range })
    }

    /// The size, without the sign.
    pub fn size(self) -> Self {
        Self { at: self.at.abs(), range: self.range.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn input(value: f64, half: f64) -> Input {
        Input { value, half }
    }

    #[test]
    fn inputs_move_together_however_many_there_are() {
        for n in [1, 6, 7, 12, 13, 40] {
            let inputs = vec![input(1.0, 0.25); n];
            let reach = Reach::of(&inputs, |it| Some(it.iter().sum())).unwrap();
            let n = n as f64;
            assert_eq!((reach.at, reach.range), (n, Range { low: 0.75 * n, high: 1.25 * n }));
        }
    }

    #[test]
    fn exact_inputs_do_not_move() {
        let reach = Reach::of(&[input(3.0, 0.0), input(2.0, 0.0)], |it| Some(it[0] / it[1])).unwrap();
        assert_eq!(reach, Reach::exact(1.5));
    }

    #[test]
    fn what_is_not_defined_everywhere_has_no_bounds() {
        for n in [1, 7, 13] {
            let inputs = vec![input(0.5, 0.5); n];
            let reach = Reach::of(&inputs, |it| Some(it.iter().map(|it| it.recip()).sum())).unwrap();
            assert_eq!(reach.range, Range::ANY);
        }
        assert_eq!(Reach::of(&[input(0.0, 0.5)], |it| Some(it[0].recip())), None);
    }

    proptest! {
        /// Whatever the true values behind the rounding are.
        #[test]
        fn every_value_behind_the_rounding_is_in_reach(
            center in prop::array::uniform4(10.0..1000.0f64),
            half in prop::array::uniform4(0.0..0.5f64),
            place in prop::array::uniform4(-1.0..1.0f64),
        ) {
            let formulas: [fn(&[f64]) -> f64; 4] = [
                |it| 100.0 * (it[0] / it[1] - 1.0),
                |it| 100.0 * (it[0] + it[1] - it[2] - it[3]) / (it[0] + it[1] - it[2] + 1e4),
                |it| (it[0] - it[1]) / (it[2] * it[2] + it[3] * it[3]).sqrt(),
                |it| (it[0] / it[1]).ln(),
            ];
            let inputs: Vec<_> = center.iter().zip(half).map(|(it, half)| input(*it, half)).collect();
            let values: Vec<_> = inputs.iter().zip(place).map(|(it, place)| it.value + place * it.half).collect();
            for formula in formulas {
                let reach = Reach::of(&inputs, |it| Some(formula(it))).unwrap();
                let (value, slack) = (formula(&values), 1e-9);
                prop_assert!(reach.range.contains(reach.at));
                prop_assert!(reach.range.low - slack <= value && value <= reach.range.high + slack);
            }
        }
    }
}
