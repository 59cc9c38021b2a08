//! Observations far from the others: counted and shown, never dropped.

use super::quantile::{median_of, type_7};
use super::{Moments, Sample};

/// Modified z-scores above this are outliers (Iglewicz and Hoaglin 1993).
const SCORE_LIMIT: f64 = 3.5;

/// Third quartile of the standard normal distribution: a MAD in units of the deviation.
const NORMAL_MAD: f64 = 0.674_489_750_196_082;

/// `sqrt(pi / 2)`: turns a mean absolute deviation of normal values into their standard deviation.
const MEAN_DEVIATION_TO_SD: f64 = 1.253_314_137_315_500_3;

/// Outliers by Tukey's fences, as 0-based indices in the order in which the observations were made.
#[derive(Clone, Debug, PartialEq)]
pub struct TukeyOutliers {
    /// First quartile (type 7).
    pub q1: f64,
    /// Third quartile (type 7).
    pub q3: f64,
    /// `q1 - 3 iqr`, `q1 - 1.5 iqr`, `q3 + 1.5 iqr`, `q3 + 3 iqr`.
    pub fences: [f64; 4],
    /// Below the lowest fence.
    pub low_severe: Vec<usize>,
    /// Between the lowest two fences.
    pub low_mild: Vec<usize>,
    /// Between the highest two fences.
    pub high_mild: Vec<usize>,
    /// Above the highest fence.
    pub high_severe: Vec<usize>,
}

impl TukeyOutliers {
    /// Returns the number of outliers of all classes.
    pub fn count(&self) -> usize {
        self.low_severe.len() + self.low_mild.len() + self.high_mild.len() + self.high_severe.len()
    }
}

/// Classifies observations by Tukey's fences (Tukey 1977), O(n log n).
pub fn tukey_outliers(sample: &Sample) -> TukeyOutliers {
    let (q1, q3) = (type_7(sample.sorted(), 0.25), type_7(sample.sorted(), 0.75));
    let iqr = q3 - q1;
    let fences = [q1 - 3.0 * iqr, q1 - 1.5 * iqr, q3 + 1.5 * iqr, q3 + 3.0 * iqr];
    let select = |class: &dyn Fn(f64) -> bool| {
        let values = sample.values().iter().enumerate();
        values.filter(|(_, value)| class(**value)).map(|(index, _)| index).collect()
    };
    TukeyOutliers {
        q1,
        q3,
        fences,
        low_severe: select(&|value| value < fences[0]),
        low_mild: select(&|value| fences[0] <= value && value < fences[1]),
        high_mild: select(&|value| fences[2] < value && value <= fences[3]),
        high_severe: select(&|value| value > fences[3]),
    }
}

/// The scale that a modified z-score divides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The median absolute deviation.
    MedianDeviation,
    /// The mean absolute deviation from the median, because more than half of the values are equal.
    MeanDeviation,
    /// None: all values are equal.
    None,
}

impl Scale {
    /// Returns the stable name of the scale.
    pub fn code(self) -> &'static str {
        match self {
            Self::MedianDeviation => "mad",
            Self::MeanDeviation => "mean_ad",
            Self::None => "none",
        }
    }
}

/// Outliers by modified z-scores.
#[derive(Clone, Debug, PartialEq)]
pub struct MadOutliers {
    /// The median.
    pub median: f64,
    /// The median absolute deviation from the median.
    pub mad: f64,
    /// The mean absolute deviation from the median.
    pub mean_deviation: f64,
    /// What the scores divide by.
    pub scale: Scale,
    /// The score of each observation, in the order in which they were made; without unit, 0 if there is no scale.
    pub scores: Vec<f64>,
    /// Indices of the observations whose score is beyond 3.5 on either side.
    pub outliers: Vec<usize>,
}

/// Scores observations by their distance from the median (Iglewicz and Hoaglin 1993), O(n log n).
///
/// `0.6745 (x - median) / MAD`; if the MAD is 0, `(x - median) / (1.2533 mean absolute deviation)`.
pub fn mad_outliers(sample: &Sample) -> MadOutliers {
    let median = type_7(sample.sorted(), 0.5);
    let deviations: Vec<f64> = sample.values().iter().map(|value| (value - median).abs()).collect();
    let mad = median_of(deviations.iter().copied());
    let mean_deviation = Moments::of_values(&deviations).mean();
    let (scale, unit) = if mad > 0.0 {
        (Scale::MedianDeviation, mad / NORMAL_MAD)
    } else if mean_deviation > 0.0 {
        (Scale::MeanDeviation, MEAN_DEVIATION_TO_SD * mean_deviation)
    } else {
        (Scale::None, f64::INFINITY)
    };
    let scores: Vec<f64> = sample.values().iter().map(|value| (value - median) / unit).collect();
    let outliers = (0..scores.len()).filter(|index| scores[*index].abs() > SCORE_LIMIT).collect();
    MadOutliers { median, mad, mean_deviation, scale, scores, outliers }
}
