//! The table of size classes.
//!
//! Blocks of small classes are multiples of 16 bytes: sixteen-byte steps to 128 bytes, then four classes a doubling, so
//! that at most a fifth of a block is lost to rounding. Powers of two alone would put the first lines of their blocks
//! into a few sets of the cache.

/// Bytes of a span: the unit in which classes get memory. Spans are aligned to it.
pub(super) const SPAN: usize = 64 << 10;
/// Number of small classes.
pub(super) const CLASSES: usize = 36;
/// The largest block of a small class, in bytes.
pub(super) const LARGEST_SMALL: usize = 16 << 10;
/// The largest request that is served on the inlined path, in bytes.
pub(super) const LARGEST_FAST: usize = 2 << 10;
/// The largest run of spans, in bytes; what is larger gets a mapping of its own.
pub(super) const LARGEST_RUN: usize = 2 << 20;
/// What every block is aligned to.
pub(super) const LEAST_ALIGN: usize = 16;

/// The hot classes that inline slots can be switched on for: C0 holds up to 8 bytes, each next one twice as much.
pub const HOT_CLASSES: usize = 8;

/// Bytes of a block of `class`.
pub(super) const fn block(class: usize) -> usize {
    if class < 8 {
        (class + 1) * 16
    } else {
        let (doubling, quarter) = ((class - 8) / 4, (class - 8) % 4);
        (128 << doubling) + ((quarter + 1) * (32 << doubling))
    }
}

const fn smallest_holding(size: usize) -> u8 {
    let mut class = 0;
    while block(class) < size {
        class += 1;
    }
    class as u8
}

/// Classes of sizes up to [`LARGEST_FAST`], by size in units of 16 bytes, rounded up.
static FAST: [u8; LARGEST_FAST / 16 + 1] = {
    let mut table = [0; LARGEST_FAST / 16 + 1];
    let mut unit = 0;
    while unit < table.len() {
        table[unit] = smallest_holding(unit * 16);
        unit += 1;
    }
    table
};

/// Classes of sizes up to [`LARGEST_SMALL`], by size in units of 512 bytes, rounded up; right above [`LARGEST_FAST`].
static SLOW: [u8; LARGEST_SMALL / 512 + 1] = {
    let mut table = [0; LARGEST_SMALL / 512 + 1];
    let mut unit = 0;
    while unit < table.len() {
        table[unit] = smallest_holding(unit * 512);
        unit += 1;
    }
    table
};

/// Bytes from one bin to the next, in units of 8.
pub(super) const PITCH: usize = 3;

/// Bytes from the first bin to that of `class`, in units of 8.
pub(super) const fn place_of(class: usize) -> u8 {
    (class * PITCH) as u8
}

/// Where no bin of a class stands: right behind them.
pub(super) const NO_PLACE: u8 = place_of(CLASSES);

/// [`FAST`] with the place of the class's bin instead of its number: the inlined path does not multiply. No `static`, so that
/// every crate which inlines the path has a copy of its own and need not look up where the table is.
const PLACES: [u8; FAST.len()] = {
    let mut table = [0; FAST.len()];
    let mut unit = 0;
    while unit < table.len() {
        table[unit] = place_of(smallest_holding(unit * 16) as usize);
        unit += 1;
    }
    table
};

const _: () = assert!(CLASSES * PITCH <= u8::MAX as usize);

/// The class of a request on the inlined path.
///
/// # Safety
///
/// `size` is at most [`LARGEST_FAST`].
#[inline(always)]
pub(super) unsafe fn fast(size: usize) -> usize {
    // SAFETY: the table has an entry for every size of the contract.
    usize::from(unsafe { *FAST.get_unchecked((size + 15) >> 4) })
}

/// Bytes from the first bin to that of a request on the inlined path.
///
/// # Safety
///
/// `size` is at most [`LARGEST_FAST`].
#[inline(always)]
pub(super) unsafe fn place(size: usize) -> usize {
    // SAFETY: the table has an entry for every size of the contract.
    usize::from(unsafe { *PLACES.get_unchecked((size + 15) >> 4) }) * 8
}

/// The class of a request of at most [`LARGEST_SMALL`] bytes and of [`LEAST_ALIGN`].
fn small(size: usize) -> usize {
    usize::from(if size <= LARGEST_FAST { FAST[(size + 15) >> 4] } else { SLOW[(size + 511) >> 9] })
}

/// Where a request is served from. Allocation and free agree on it, since both know the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// A block of this class.
    Small(usize),
    /// A run of this many spans.
    Run(usize),
    /// A mapping of its own.
    Huge,
}

impl Route {
    /// The route of `size` bytes aligned to `align`, a power of two. No size wraps to a small class.
    pub(super) fn of(size: usize, align: usize) -> Self {
        // Blocks of a power of two are aligned to their size, since spans are aligned to more.
        let rounded = if align <= LEAST_ALIGN { size } else { size.max(align) };
        if rounded <= LARGEST_SMALL {
            let power = align > LEAST_ALIGN;
            Self::Small(small(if power { rounded.next_power_of_two() } else { rounded }))
        } else if size <= LARGEST_RUN && align <= SPAN {
            Self::Run(size.div_ceil(SPAN).max(1))
        } else {
            Self::Huge
        }
    }
}

/// The hot class that `class` belongs to, if it is one: the gates are named by it. The smallest blocks have 16 bytes
/// and serve both C0 and C1.
pub(super) const fn hot(class: usize) -> Option<usize> {
    let index = block(class).next_power_of_two().trailing_zeros() as usize - 3;
    if index < HOT_CLASSES { Some(index) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_the_documented_ones() {
        let blocks: Vec<usize> = (0..CLASSES).map(block).collect();
        assert_eq!(&blocks[..12], [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256]);
        assert_eq!(blocks[23], LARGEST_FAST);
        assert_eq!(blocks[35], LARGEST_SMALL);
        assert!(blocks.is_sorted() && blocks.iter().all(|it| it % LEAST_ALIGN == 0));
    }

    #[test]
    fn every_size_goes_to_the_smallest_block_that_holds_it() {
        for size in 0..=LARGEST_SMALL {
            let Route::Small(class) = Route::of(size, 8) else { panic!("{size} is small") };
            assert!(block(class) >= size && (class == 0 || block(class - 1) < size), "{size}");
            if size <= LARGEST_FAST {
                // SAFETY: checked in this line.
                assert_eq!(unsafe { (fast(size), place(size)) }, (class, class * PITCH * 8));
            }
        }
    }

    #[test]
    fn blocks_of_an_aligned_class_are_aligned() {
        for align in (5..=14).map(|it| 1usize << it) {
            for size in [0, 1, align - 1, align, align + 1, 3 * align] {
                match Route::of(size, align) {
                    Route::Small(class) => {
                        assert!(block(class).is_multiple_of(align) && block(class) >= size, "{size} {align}");
                    }
                    Route::Run(spans) => assert!(spans * SPAN >= size),
                    Route::Huge => panic!("{size} aligned to {align} is not huge"),
                }
            }
        }
    }

    #[test]
    fn the_largest_requests_do_not_wrap() {
        for (size, align) in [(isize::MAX as usize - 7, 8), (usize::MAX, 4096), (usize::MAX, 1), (1, 1 << 62)]
        {
            assert_eq!(Route::of(size, align), Route::Huge);
        }
    }

    #[test]
    fn hot_classes_are_doublings() {
        let of = |size| {
            let Route::Small(class) = Route::of(size, 1) else { unreachable!() };
            hot(class)
        };
        let found = [1, 16, 17, 33, 65, 128, 129, 256, 257, 512, 513, 1024, 1025].map(of);
        let expected = [1, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7, 99].map(|it| (it < 8).then_some(it));
        assert_eq!(found, expected);
    }
}
