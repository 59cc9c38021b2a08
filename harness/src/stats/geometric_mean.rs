//! Many cells in one number: the geometric mean of the ratios of two arms.

use super::{Interval, Paired, Sample, StatsError, paired_t};

/// The geometric mean, over cells and blocks, of `treatment / control`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometricMean {
    /// The mean, without unit.
    pub ratio: f64,
    /// `ratio - 1`.
    pub change: f64,
    /// Number of cells.
    pub cells: usize,
    /// The logarithm, block by block: in each block the mean over all cells.
    pub logarithms: Paired,
}

/// Summarizes cells by the geometric mean of their ratios (Fleming and Wallace 1986), each cell with the weight of one.
///
/// A cell is the pair `(treatment, control)`; the i-th observations of all are one block. In each block the logarithms
/// of all ratios are averaged, and the blocks are the n of a t: what a block has in common drops out where it slows
/// both arms, and counts once where it does not. O(cells × n).
///
/// # Errors
///
/// [`StatsError::TooFew`] without a cell or below 2 blocks, [`StatsError::UnequalLength`] unless all samples have the same
/// blocks, [`StatsError::NonPositive`] unless all observations are above zero.
pub fn geometric_mean(cells: &[(&Sample, &Sample)]) -> Result<GeometricMean, StatsError> {
    let Some((first, _)) = cells.first() else { return Err(StatsError::TooFew { needed: 1, found: 0 }) };
    let blocks = first.len();
    let (mut treatment, mut control) = (vec![0.0; blocks], vec![0.0; blocks]);
    for (of_treatment, of_control) in cells {
        if of_treatment.len() != blocks || of_control.len() != blocks {
            let (treatment, control) = (of_treatment.len(), of_control.len());
            return Err(StatsError::UnequalLength { treatment, control });
        }
        // Relative to one observation of the cell, so that cells of seconds and of nanoseconds lose no digit.
        let pivot = of_control.values()[0];
        for (sums, sample) in [(&mut treatment, of_treatment), (&mut control, of_control)] {
            let logarithms = sample.ln_relative_to(pivot)?;
            sums.iter_mut().zip(logarithms.values()).for_each(|(sum, it)| *sum += it / cells.len() as f64);
        }
    }
    let logarithms = paired_t(&Sample::new(treatment)?, &Sample::new(control)?)?;
    let (ratio, change) = (logarithms.difference.exp(), logarithms.difference.exp_m1());
    Ok(GeometricMean { ratio, change, cells: cells.len(), logarithms })
}

impl GeometricMean {
    /// Returns the confidence interval of `ratio - 1`; `None` if all blocks give the same ratio.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn change_interval(&self, level: f64) -> Result<Option<Interval>, StatsError> {
        Ok(self.logarithms.interval(level)?.map(|interval| interval.map(f64::exp_m1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    #[test]
    fn cells_have_equal_weights_whatever_their_size() {
        // Twice as long in a cell of seconds, half as long in one of nanoseconds: on the whole the same.
        let (long, short) = (sample(&[2.0, 2.2, 2.4]), sample(&[1e-9, 1.1e-9, 1.2e-9]));
        let (one, two) = (sample(&[1.0, 1.1, 1.2]), sample(&[2e-9, 2.2e-9, 2.4e-9]));
        let found = geometric_mean(&[(&long, &one), (&short, &two)]).unwrap();
        assert!(found.change.abs() < 1e-15 && found.cells == 2, "{found:?}");
        assert_eq!(found.change_interval(0.95), Ok(None));
    }

    #[test]
    fn blocks_are_the_n() {
        // Ratios of 1.1, 1.2, 1.3 and of 1.0 in each block: square roots of them.
        let (t, c) = (sample(&[1.1, 2.4, 3.9]), sample(&[1.0, 2.0, 3.0]));
        let same = sample(&[5.0, 7.0, 6.0]);
        let found = geometric_mean(&[(&t, &c), (&same, &same)]).unwrap();
        let roots = [1.1_f64, 1.2, 1.3].map(|it| it.sqrt().ln());
        let mean = roots.iter().sum::<f64>() / 3.0;
        let variance = roots.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 2.0;
        // The 97.5 % quantile of Student's t with 2 degrees of freedom.
        let half = 4.302_652_729_749_464 * (variance / 3.0).sqrt();
        let interval = found.change_interval(0.95).unwrap().unwrap();
        assert!((found.ratio - mean.exp()).abs() < 1e-14);
        assert!((interval.lower - (mean - half).exp_m1()).abs() < 1e-12, "{interval:?}");
        assert!((interval.upper - (mean + half).exp_m1()).abs() < 1e-12, "{interval:?}");
    }

    #[test]
    fn what_has_no_geometric_mean_is_refused() {
        let (three, two, zero) = (sample(&[1.0, 2.0, 3.0]), sample(&[1.0, 2.0]), sample(&[0.0, 1.0, 2.0]));
        assert_eq!(geometric_mean(&[]), Err(StatsError::TooFew { needed: 1, found: 0 }));
        assert_eq!(
            geometric_mean(&[(&three, &three), (&two, &two)]),
            Err(StatsError::UnequalLength { treatment: 2, control: 2 })
        );
        assert_eq!(geometric_mean(&[(&zero, &three)]), Err(StatsError::NonPositive));
    }
}
