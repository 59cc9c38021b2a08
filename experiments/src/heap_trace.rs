//! Allocation traces: what a program asked of its allocator, replayed.
//!
//! A trace is a line of numbers, LEB128 each; the two lowest bits say what it is:
//!
//! | bits | number | followed by |
//! |---|---|---|
//! | 0 | `align.log2() << 2` | the size: a block is allocated, into the lowest free slot |
//! | 1 | `slot << 2` | its block is freed |
//! | 2 | `slot << 2` | the new size: its block is resized |

use std::alloc::{GlobalAlloc, Layout};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Take { slot: u32, size: u32, align: u32 },
    Give { slot: u32 },
    Resize { slot: u32, size: u32 },
}

/// Requests in order, and how many slots they need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) requests: Vec<Request>,
    pub(crate) slots: usize,
}

impl Trace {
    /// Reads a trace; an error says at which byte it is not one.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (mut trace, mut free, mut live, mut at) = (Self::default(), BinaryHeap::new(), Vec::new(), 0);
        while at < bytes.len() {
            let start = at;
            let word = number(bytes, &mut at)?;
            let slot =
                u32::try_from(word >> 2).map_err(|_| format!("byte {start}: the slot is too large"))?;
            let in_use = |live: &[bool]| live.get(slot as usize).copied().unwrap_or(false);
            trace.requests.push(match word & 3 {
                0 if word >> 2 < 16 => {
                    let size = size(bytes, &mut at)?;
                    let slot = free.pop().map_or(live.len() as u32, |Reverse(it)| it);
                    live.resize(live.len().max(slot as usize + 1), false);
                    live[slot as usize] = true;
                    Request::Take { slot, size, align: 1 << (word >> 2) }
                }
                1 if in_use(&live) => {
                    live[slot as usize] = false;
                    free.push(Reverse(slot));
                    Request::Give { slot }
                }
                2 if in_use(&live) => Request::Resize { slot, size: size(bytes, &mut at)? },
                _ => return Err(format!("byte {start}: {word} is no request that is possible there")),
            });
        }
        trace.slots = live.len();
        Ok(trace)
    }

    /// Replays the trace, frees what is left, and returns the sum of all sizes asked for. Every block is written to at
    /// both ends.
    pub(crate) fn replay<A: GlobalAlloc>(&self, allocator: &A, blocks: &mut Blocks) -> u64 {
        let mut sum = 0;
        for request in &self.requests {
            // SAFETY: `parse` has checked that a request is for a slot that is in use, and sizes are not 0.
            unsafe {
                match *request {
                    Request::Take { slot, size, align } => {
                        let layout = Layout::from_size_align_unchecked(size as usize, align as usize);
                        let block = allocator.alloc(layout);
                        touch(block, size);
                        blocks.0[slot as usize] = (block, layout);
                        sum += u64::from(size);
                    }
                    Request::Give { slot } => {
                        let (block, layout) = blocks.0[slot as usize];
                        blocks.0[slot as usize].0 = std::ptr::null_mut();
                        allocator.dealloc(block, layout);
                    }
                    Request::Resize { slot, size } => {
                        let (block, layout) = blocks.0[slot as usize];
                        let block = allocator.realloc(block, layout, size as usize);
                        touch(block, size);
                        let layout = Layout::from_size_align_unchecked(size as usize, layout.align());
                        blocks.0[slot as usize] = (block, layout);
                        sum += u64::from(size);
                    }
                }
            }
        }
        for (block, layout) in &mut blocks.0 {
            if !block.is_null() {
                // SAFETY: the slot's block is in use.
                unsafe { allocator.dealloc(*block, *layout) };
                *block = std::ptr::null_mut();
            }
        }
        sum
    }

    /// Room for the blocks of a replay.
    pub(crate) fn room(&self) -> Blocks {
        Blocks(vec![(std::ptr::null_mut(), Layout::new::<u8>()); self.slots])
    }
}

/// The blocks of a replay by their slots.
pub(crate) struct Blocks(Vec<(*mut u8, Layout)>);

/// # Safety
///
/// `block` is null or has `size` bytes, at least one.
unsafe fn touch(block: *mut u8, size: u32) {
    assert!(!block.is_null(), "out of memory");
    // SAFETY: by the contract.
    unsafe {
        block.write(1);
        block.add(size as usize - 1).write(1);
    }
}

fn number(bytes: &[u8], at: &mut usize) -> Result<u64, String> {
    let (mut value, mut shift) = (0u64, 0);
    loop {
        let byte = *bytes.get(*at).ok_or_else(|| format!("byte {at}: the trace ends in a number"))?;
        *at += 1;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
        shift += 7;
        if shift > 56 {
            return Err(format!("byte {at}: the number is too long"));
        }
    }
}

fn size(bytes: &[u8], at: &mut usize) -> Result<u32, String> {
    let start = *at;
    match number(bytes, at)? {
        0 => Err(format!("byte {start}: a size of 0")),
        it => u32::try_from(it).map_err(|_| format!("byte {start}: a size of {it} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_and_replayed() {
        // 300 bytes aligned to 8, 5 bytes to 1, the first resized to 20, the second freed, 7 bytes in its place.
        let bytes = [3 << 2, 0xAC, 0x02, 0, 5, 2, 20, 1 << 2 | 1, 0, 7];
        let trace = Trace::parse(&bytes).unwrap();
        assert_eq!(
            trace.requests,
            [
                Request::Take { slot: 0, size: 300, align: 8 },
                Request::Take { slot: 1, size: 5, align: 1 },
                Request::Resize { slot: 0, size: 20 },
                Request::Give { slot: 1 },
                Request::Take { slot: 1, size: 7, align: 1 },
            ]
        );
        assert_eq!(trace.slots, 2);
        assert_eq!(trace.replay(&std::alloc::System, &mut trace.room()), 332);
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        for (bytes, expected) in [
            (&[0, 0][..], "byte 1: a size of 0"),
            (&[1], "byte 0: 1 is no request that is possible there"),
            (&[0, 9, 1, 1], "byte 3: 1 is no request that is possible there"),
            (&[3], "byte 0: 3 is no request that is possible there"),
            (&[0, 0x80], "byte 2: the trace ends in a number"),
            (&[0x80; 12], "byte 9: the number is too long"),
            (&[0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], "byte 1: a size of 68719476735 bytes"),
        ] {
            assert_eq!(Trace::parse(bytes).unwrap_err(), expected);
        }
    }
}
