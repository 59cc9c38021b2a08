/// The two-sided 95 % point of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % interval of a chance that was met `hits` times of `n` (Wilson 1927): inside 0 to 1, and honest for few hits.
/// For `n = 0` it is all of that.
pub fn wilson(hits: u32, n: u32) -> [f64; 2] {
    if n == 0 {
        return [0.0, 1.0];
    }
    let (hits, n) = (f64::from(hits.min(n)), f64::from(n));
    let share = hits / n;
    let scale = 1.0 + Z * Z / n;
    let center = (share + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    // At the ends the formula gives exactly 0 and 1, but for rounding.
    let low = if hits == 0.0 { 0.0 } else { (center - half).max(0.0) };
    let high = if hits == n { 1.0 } else { (center + half).min(1.0) };
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the formula in exact arithmetic: at no hit the upper limit is z² / (n + z²).
    #[test]
    fn the_ends_are_those_of_the_formula() {
        let [low, high] = wilson(0, 200);
        assert_eq!(low, 0.0);
        assert!((high - Z * Z / (200.0 + Z * Z)).abs() < 1e-15);
        let [low, high] = wilson(200, 200);
        assert!((low - 200.0 / (200.0 + Z * Z)).abs() < 1e-15);
        assert_eq!(high, 1.0);
        assert_eq!(wilson(0, 0), [0.0, 1.0]);
    }

    /// Newcombe 1998, table I, method 3: 81 of 263 and 15 of 148.
    #[test]
    fn published_intervals_come_out() {
        for (hits, n, expected) in [(81, 263, [0.2553, 0.3662]), (15, 148, [0.0624, 0.1605])] {
            let found = wilson(hits, n);
            assert!((0..2).all(|i| (found[i] - expected[i]).abs() < 5e-5), "{found:?}");
        }
    }
}
