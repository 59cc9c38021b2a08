//! Where the buckets of a point index are.
//!
//! Fifteen of them share a line of 64 bytes, which also tells of most keys that they are not there. All lines together are small
//! enough to stay near, so that a bucket, which seldom is, is asked for when it is known where it starts.

use super::layout::UNIT;

/// Bytes a line, and buckets.
pub(super) const LINE: usize = 64;
pub(super) const WAYS: usize = 15;

/// Where in a line the places of its buckets are, from the first one on, and their filters.
const PLACES: usize = 4;
const FILTERS: usize = PLACES + 2 * WAYS;

/// Where the keys of a hash belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) line: usize,
    /// Which bucket of the line.
    pub(super) way: usize,
    /// The bit that the filter of the bucket has.
    pub(super) bit: u16,
}

impl Home {
    /// The home of a hash among so many lines.
    #[inline(always)]
    pub(super) fn of(hash: u64, lines: usize) -> Self {
        let place = u128::from(hash) * lines as u128;
        let way = (u128::from(place as u64) * WAYS as u128) >> 64;
        Self { line: (place >> 64) as usize, way: way as usize, bit: 1 << (hash >> 8 & 15) }
    }

    /// The number of the bucket among those of all lines.
    pub(super) fn bucket(self) -> usize {
        self.line * WAYS + self.way
    }
}

/// Puts a line at the end of `out`: the units where its buckets start, and their filters.
///
/// False if there is a place that a line cannot have.
pub(super) fn push_line(units: &[u64; WAYS], filters: &[u16; WAYS], out: &mut Vec<u8>) -> bool {
    let Ok(first) = u32::try_from(units[0]) else { return false };
    out.extend(first.to_le_bytes());
    for unit in units {
        let Ok(place) = u16::try_from(unit - units[0]) else { return false };
        out.extend(place.to_le_bytes());
    }
    out.extend(filters.iter().flat_map(|filter| filter.to_le_bytes()));
    true
}

/// The lines of a file.
#[derive(Clone, Copy)]
pub(super) struct Directory<'i>(&'i [[u8; LINE]]);

impl<'i> Directory<'i> {
    #[inline(always)]
    pub(super) fn new(bytes: &'i [u8]) -> Self {
        Self(bytes.as_chunks().0)
    }

    /// The byte where the bucket of a hash starts, if it may have what belongs there.
    #[inline(always)]
    pub(super) fn bucket(self, hash: u64) -> Option<usize> {
        self.at(Home::of(hash, self.0.len()))
    }

    /// Where all buckets start that have something.
    pub(super) fn buckets(self) -> impl Iterator<Item = usize> {
        let ways = |line| (0..WAYS).map(move |way| Home { line, way, bit: u16::MAX });
        (0..self.0.len()).flat_map(ways).filter_map(move |home| self.at(home))
    }

    #[inline(always)]
    fn at(self, home: Home) -> Option<usize> {
        let line = self.0.get(home.line)?;
        let u16_at = |at: usize| line[at..].first_chunk().map_or(0, |two| u16::from_le_bytes(*two));
        if u16_at(FILTERS + 2 * home.way) & home.bit == 0 {
            return None;
        }
        let first = u32::from_le_bytes(*line.first_chunk()?);
        Some((first as usize + usize::from(u16_at(PLACES + 2 * home.way))) * UNIT as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_are_inside_and_everywhere() {
        let mut seen = std::collections::BTreeSet::new();
        for i in 0..10_000_u64 {
            let home = Home::of(i.wrapping_mul(0x9E37_79B9_7F4A_7C15), 7);
            assert!(home.line < 7 && home.way < WAYS);
            seen.insert(home.bucket());
        }
        assert_eq!(seen.len(), 7 * WAYS);
        for hash in [0, u64::MAX] {
            let home = Home::of(hash, 3);
            assert_eq!((home.line, home.way), if hash == 0 { (0, 0) } else { (2, WAYS - 1) });
        }
    }

    #[test]
    fn places_and_filters_come_back() {
        let units = std::array::from_fn(|way| 70_000 + 600 * way as u64);
        let filters = std::array::from_fn(|way| 1 << way);
        let mut out = vec![0; LINE];
        assert!(push_line(&units, &filters, &mut out));
        assert_eq!(out.len(), 2 * LINE);
        let directory = Directory::new(&out);
        for way in 0..WAYS {
            let home = |line, bit| Home { line, way, bit };
            assert_eq!(directory.at(home(1, 1 << way)), Some((70_000 + 600 * way) * UNIT as usize));
            assert_eq!(directory.at(home(1, 1 << 15)), None);
            assert_eq!(directory.at(home(0, 1)), None);
            assert_eq!(directory.at(home(2, 1)), None);
        }
        assert!(!push_line(&[1 << 32; WAYS], &filters, &mut out));
        let mut far = units;
        far[3] += 1 << 16;
        assert!(!push_line(&far, &filters, &mut out));
    }
}
