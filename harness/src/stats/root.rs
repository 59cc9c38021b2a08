//! Roots of a function between two limits.

/// Returns a root of `f` between `low` and `high`, where its signs differ, to nearly full precision (Brent 1973).
///
/// If the signs do not differ, the end with the smaller magnitude is returned.
pub(super) fn root(low: f64, high: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let (mut a, mut b) = (low, high);
    let (mut f_a, mut f_b) = (f(a), f(b));
    if f_a == 0.0 || f_b == 0.0 || (f_a > 0.0) == (f_b > 0.0) {
        return if f_a.abs() < f_b.abs() { a } else { b };
    }
    let (mut c, mut f_c) = (a, f_a);
    let mut step = b - a;
    let mut previous_step = step;
    for _ in 0..300 {
        if f_c.abs() < f_b.abs() {
            (a, b, c) = (b, c, b);
            (f_a, f_b, f_c) = (f_b, f_c, f_b);
        }
        let tolerance = 2.0 * f64::EPSILON * b.abs() + f64::MIN_POSITIVE;
        let half = 0.5 * (c - b);
        if half.abs() <= tolerance || f_b == 0.0 {
            return b;
        }
        if previous_step.abs() >= tolerance && f_a.abs() > f_b.abs() {
            let s = f_b / f_a;
            let (mut p, mut q) = if a == c {
                (2.0 * half * s, 1.0 - s)
            } else {
                let (q, r) = (f_a / f_c, f_b / f_c);
                (s * (2.0 * half * q * (q - r) - (b - a) * (r - 1.0)), (q - 1.0) * (r - 1.0) * (s - 1.0))
            };
            if p > 0.0 {
                q = -q;
            }
            p = p.abs();
            if 2.0 * p < (3.0 * half * q - (tolerance * q).abs()).min((previous_step * q).abs()) {
                previous_step = step;
                step = p / q;
            } else {
                step = half;
                previous_step = half;
            }
        } else {
            step = half;
            previous_step = half;
        }
        (a, f_a) = (b, f_b);
        b += if step.abs() > tolerance { step } else { tolerance.copysign(half) };
        f_b = f(b);
        if (f_b > 0.0) == (f_c > 0.0) {
            (c, f_c) = (a, f_a);
            step = b - a;
            previous_step = step;
        }
    }
    b
}

#[cfg(test)]
mod tests {
    use super::root;

    #[test]
    fn finds_roots_to_the_last_digits() {
        assert!((root(0.0, 2.0, |x| x * x - 2.0) - std::f64::consts::SQRT_2).abs() < 4e-16);
        assert!((root(-3.0, 4.0, |x| x.exp() - 1.0)).abs() < 1e-15);
        assert!((root(1e-300, 1.0, |x| x.ln() + 20.0) - (-20.0f64).exp()).abs() < 1e-23);
    }
}
