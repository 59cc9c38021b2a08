//! Vectors and maps that grow from nothing, on any allocator.

use std::alloc::{GlobalAlloc, Layout};
use std::hash::{BuildHasher, Hasher};
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};
use allocator_api2::vec::Vec as VecIn;
use hashbrown::HashMap;

/// The adapter that collections ask for.
#[derive(Clone, Copy)]
struct Via<A>(A);

impl<A: GlobalAlloc> Via<A> {
    fn block(block: *mut u8, size: usize) -> Result<NonNull<[u8]>, AllocError> {
        let block = NonNull::new(block).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(block, size))
    }
}

// SAFETY: blocks live until they are freed, and every copy of the adapter is of the same allocator.
unsafe impl<A: GlobalAlloc> Allocator for Via<A> {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() == 0 {
            return Ok(NonNull::slice_from_raw_parts(NonNull::dangling(), 0));
        }
        // SAFETY: the size is not 0.
        Self::block(unsafe { self.0.alloc(layout) }, layout.size())
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        if layout.size() != 0 {
            // SAFETY: by the contract of the caller.
            unsafe { self.0.dealloc(block.as_ptr(), layout) };
        }
    }

    unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if old.size() == 0 || old.align() != new.align() {
            let moved = self.allocate(new)?;
            // SAFETY: by the contract of the caller, both blocks have the bytes of `old`.
            unsafe {
                moved.cast::<u8>().copy_from_nonoverlapping(block, old.size());
                self.deallocate(block, old);
            }
            return Ok(moved);
        }
        // SAFETY: by the contract of the caller.
        Self::block(unsafe { self.0.realloc(block.as_ptr(), old, new.size()) }, new.size())
    }
}

/// A hash that is the same in every process: the multiplier is the golden ratio's.
#[derive(Clone, Copy, Default)]
struct Golden(u64);

impl Hasher for Golden {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

impl BuildHasher for Golden {
    type Hasher = Self;
    fn build_hasher(&self) -> Self {
        *self
    }
}

/// Grows `rounds` vectors and maps to sizes from 1 to 10,000 elements, and returns what can be read back from them.
pub(crate) fn grow<A: GlobalAlloc + Copy>(allocator: A, rounds: u64) -> u64 {
    let mut sum = 0u64;
    for round in 0..rounds {
        let len = [3, 30, 300, 1000, 10_000][round as usize % 5];
        let mut vector = VecIn::new_in(Via(allocator));
        let mut map = HashMap::with_hasher_in(Golden(0), Via(allocator));
        for number in 0..len {
            vector.push(number ^ round);
            map.insert(number * 7, round);
        }
        sum = sum.wrapping_add(vector.iter().sum::<u64>());
        sum = sum.wrapping_add(map.values().sum::<u64>() + map.len() as u64);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_allocator_gives_the_same() {
        let sum = grow(std::alloc::System, 10);
        assert_eq!(sum, grow(engine::heap::Heap::<engine::heap::Gated>::new(), 10));
        assert!(sum > 0);
    }
}
