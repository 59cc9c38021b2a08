//! Large buffers on large pages: what is read or written at random all over them is found with fewer steps, and the system
//! hands out their memory in fewer pieces.

use std::ops::Range;

/// Bytes of a large page on the usual processors. Elsewhere, the advice may come to nothing.
const LARGE: usize = 2 << 20;

/// Asks the system to put what a new buffer has reserved on large pages, before it is written. Smaller buffers stay as they
/// are, and nothing happens where the system has no such pages.
pub(crate) fn advise<T>(buffer: &Vec<T>) {
    let start = buffer.as_ptr().addr();
    let large = within(start..start + buffer.capacity() * size_of::<T>());
    #[cfg(target_os = "linux")]
    if !large.is_empty() {
        let first = buffer.as_ptr().cast_mut().wrapping_byte_add(large.start - start);
        // SAFETY: the pages lie within what the vector has reserved, and this advice changes nothing that is in them.
        let advised =
            unsafe { rustix::mm::madvise(first.cast(), large.len(), rustix::mm::Advice::LinuxHugepage) };
        // Without them everything is as right, only slower.
        let _ = advised;
    }
}

/// The large pages that lie within some addresses.
fn within(addresses: Range<usize>) -> Range<usize> {
    let start = addresses.start.checked_next_multiple_of(LARGE).unwrap_or(addresses.end);
    start..(addresses.end / LARGE * LARGE).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_within_the_buffer_are_advised() {
        for (addresses, pages) in [
            (0..0, 0..0),
            (LARGE..3 * LARGE, LARGE..3 * LARGE),
            (LARGE - 1..2 * LARGE + 1, LARGE..2 * LARGE),
            (LARGE + 1..3 * LARGE - 1, 2 * LARGE..2 * LARGE),
            (usize::MAX - 9..usize::MAX, 0..0),
        ] {
            let found = within(addresses.clone());
            assert_eq!(found.len(), pages.len(), "{addresses:?}");
            assert!(found.is_empty() || found == pages, "{addresses:?} {found:?}");
        }
    }

    #[test]
    fn a_buffer_keeps_what_is_in_it() {
        let mut buffer: Vec<u32> = Vec::with_capacity(3 * LARGE / 4 + 5);
        buffer.extend(0..1_000);
        advise(&buffer);
        buffer.resize(buffer.capacity(), 7);
        let (front, rest) = buffer.split_at(1_000);
        assert!(front.iter().copied().eq(0..1_000) && rest.iter().all(|&it| it == 7));
        advise(&Vec::<()>::new());
        advise(&vec![0_u8; 1]);
    }
}
