//! A block of bytes behind a thin pointer, so that a slot of one word can hold it.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::slice;

/// Bytes on the heap, preceded by their count. Aligned to eight.
pub(super) struct Blob(NonNull<Head>);

/// What stands before the bytes.
#[repr(C, align(8))]
pub(super) struct Head {
    len: usize,
}

const HEAD_LEN: usize = size_of::<Head>();

fn layout(len: usize) -> Layout {
    let bytes = HEAD_LEN.checked_add(len).expect("a blob is shorter than memory");
    Layout::from_size_align(bytes, align_of::<Head>()).expect("a blob is shorter than memory")
}

impl Blob {
    /// A block of the bytes of all parts, one after the other.
    pub(super) fn concat(parts: &[&[u8]]) -> Self {
        let len = parts.iter().fold(0_usize, |len, part| len.saturating_add(part.len()));
        let layout = layout(len);
        // SAFETY: the layout has at least the bytes of the head, so its size is not zero.
        let raw = unsafe { alloc(layout) }.cast::<Head>();
        let Some(head) = NonNull::new(raw) else { handle_alloc_error(layout) };
        // SAFETY: the block was just allocated for a head and `len` bytes, is aligned for the head, and nobody else
        // knows it; the parts have `len` bytes together, so every copy ends inside the block.
        unsafe {
            head.write(Head { len });
            let mut to = raw.cast::<u8>().add(HEAD_LEN);
            for part in parts {
                to.copy_from_nonoverlapping(part.as_ptr(), part.len());
                to = to.add(part.len());
            }
        }
        Self(head)
    }

    /// Gives the block away as a pointer, to be taken back by [`from_raw`](Self::from_raw).
    pub(super) fn into_raw(self) -> *mut Head {
        std::mem::ManuallyDrop::new(self).0.as_ptr()
    }

    /// Takes a block back.
    ///
    /// # Safety
    ///
    /// `raw` comes from [`into_raw`](Self::into_raw) and is taken back once.
    pub(super) unsafe fn from_raw(raw: *mut Head) -> Self {
        // SAFETY: `into_raw` gives the pointer of a live block, which is not null.
        Self(unsafe { NonNull::new_unchecked(raw) })
    }

    /// The bytes of a block that was given away.
    ///
    /// # Safety
    ///
    /// `raw` comes from [`into_raw`](Self::into_raw), and for `'a` it is neither taken back nor written to.
    pub(super) unsafe fn borrow<'a>(raw: *const Head) -> &'a [u8] {
        // SAFETY: the block starts with its head and has `len` initialised bytes after it; the caller keeps it
        // alive and unwritten.
        unsafe { slice::from_raw_parts(raw.cast::<u8>().add(HEAD_LEN), (*raw).len) }
    }

    /// The bytes of a block that was given away, to write to.
    ///
    /// # Safety
    ///
    /// `raw` comes from [`into_raw`](Self::into_raw), and for `'a` nobody else uses it.
    pub(super) unsafe fn borrow_mut<'a>(raw: *mut Head) -> &'a mut [u8] {
        // SAFETY: as for `borrow`, and the caller has the block for itself.
        unsafe { slice::from_raw_parts_mut(raw.cast::<u8>().add(HEAD_LEN), (*raw).len) }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the block is this blob's until it is dropped, and the result borrows the blob.
        unsafe { Self::borrow(self.0.as_ptr()) }
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        let layout = layout(self.bytes().len());
        // SAFETY: the block was allocated with this very layout and is not used any more.
        unsafe { dealloc(self.0.as_ptr().cast(), layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_way_through_a_pointer() {
        for len in [0, 1, 7, 8, 9, 1_000] {
            let (sevens, eights) = (vec![7; len], vec![8; len / 2]);
            let blob = Blob::concat(&[&sevens, b"", &eights]);
            let all = [sevens, eights].concat();
            assert_eq!(blob.bytes(), all);
            let raw = blob.into_raw();
            assert_eq!(raw.addr() % 8, 0);
            // SAFETY: the pointer was just given away, is used by this test alone and taken back once.
            let blob = unsafe {
                assert_eq!(Blob::borrow(raw), all);
                Blob::borrow_mut(raw).fill(9);
                Blob::from_raw(raw)
            };
            assert_eq!(blob.bytes(), vec![9; len + len / 2]);
        }
    }
}
