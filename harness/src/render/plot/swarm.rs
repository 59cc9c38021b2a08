//! Points beside each other that would otherwise lie on each other.

/// How many lanes of points there are, the middle one among them.
const LANES: usize = 7;

/// The radius of a point.
pub(super) const RADIUS: i32 = 3;

/// How far lanes are apart; they may touch.
const LANE: i32 = 4;

/// How far points reach above and below the middle.
pub(super) const REACH: i32 = (LANES as i32 / 2) * LANE + RADIUS;

/// Places points at the pixels `xs` round the height `middle`, each in the lane nearest to the middle that
/// has room; at most `most` of them in all.
///
/// Where every lane is full, points lie on each other; those that would hide each other wholly are placed once.
pub(super) fn place(mut xs: Vec<i32>, middle: i32, most: usize) -> Vec<(i32, i32)> {
    xs.sort_unstable();
    let (Some(first), Some(last)) = (xs.first().copied(), xs.last().copied()) else {
        return Vec::new();
    };
    // Coarser columns, if there are so many points that their number matters to a reader's browser.
    let columns = (most / LANES).max(1) as i32;
    let step = if xs.len() > most { ((last - first) / columns + 1).max(1) } else { 1 };
    let mut ends: [Option<i32>; LANES] = [None; LANES];
    let mut turn = 0;
    let mut points = Vec::new();
    for x in xs {
        let x = first + (x - first) / step * step;
        let free = |end: &Option<i32>| end.is_none_or(|it| x - it > 2 * RADIUS);
        let lane = ends.iter().position(free).unwrap_or_else(|| {
            turn = (turn + 1) % LANES;
            turn
        });
        if ends[lane] == Some(x) {
            continue;
        }
        ends[lane] = Some(x);
        let away = LANE * lane.div_ceil(2) as i32;
        points.push((x, if lane % 2 == 0 { middle + away } else { middle - away }));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_do_not_lie_on_each_other_within_a_lane() {
        let points = place(vec![10, 10, 11, 12, 30], 100, 500);
        assert_eq!(points, [(10, 100), (10, 96), (11, 104), (12, 92), (30, 100)]);
    }

    #[test]
    fn many_points_stay_few_and_within_reach() {
        let xs: Vec<i32> = (0..100_000).map(|i| (i * 7919) % 480).collect();
        let points = place(xs, 0, 700);
        assert!(points.len() <= 800, "{}", points.len());
        assert!(points.iter().all(|(x, y)| (0..480).contains(x) && y.abs() <= REACH - RADIUS));
        assert_eq!(place(vec![5; 51], 0, 500).len(), 7);
        assert_eq!(place(Vec::new(), 0, 500), []);
    }
}
