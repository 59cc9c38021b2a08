//! Fewer points of a line that looks the same.

/// The line through `points`, which run from left to right, with at most four points a column of pixels:
/// where it enters, its highest, its lowest, and where it leaves.
pub(super) fn line(points: Vec<(i32, i32)>) -> Vec<(i32, i32)> {
    let mut thinned = Vec::new();
    for column in points.chunk_by(|a, b| a.0 == b.0) {
        let mut corners = vec![0, column.len() - 1];
        corners.extend((0..column.len()).min_by_key(|i| column[*i].1));
        corners.extend((0..column.len()).max_by_key(|i| column[*i].1));
        corners.sort_unstable();
        corners.dedup();
        thinned.extend(corners.into_iter().map(|i| column[i]));
    }
    thinned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_and_ends_stay() {
        let points = vec![(0, 5), (0, 6), (0, 9), (0, 7), (0, 1), (0, 4), (1, 2)];
        assert_eq!(line(points), [(0, 5), (0, 9), (0, 1), (0, 4), (1, 2)]);
        assert_eq!(line(vec![(3, 3)]), [(3, 3)]);
        assert_eq!(line(Vec::new()), []);
    }
}
