//! What debug mode says before it aborts, without allocating.

use super::os::complain;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    DoubleFree,
    Foreign,
    Layout,
    Overflow,
    WriteAfterFree,
}

impl Fault {
    fn text(self) -> &'static [u8] {
        match self {
            Self::DoubleFree => b"double free: a block that is free already",
            Self::Foreign => b"foreign pointer: it is not the start of a block of this heap",
            Self::Layout => b"wrong layout: freed with another size or alignment than allocated with",
            Self::Overflow => b"overflow: bytes behind the block were written to",
            Self::WriteAfterFree => b"write after free: a free block was written to",
        }
    }
}

/// Writes what was found and aborts. `size` is that of the block, 0 when there is none.
pub(super) fn report(fault: Fault, ptr: *mut u8, size: usize) -> ! {
    let (mut address, mut bytes) = ([0; 16], [0; 20]);
    let address = digits(ptr.addr(), 16, &mut address);
    complain(&[b"engine::heap: ", fault.text(), b"; address 0x", address]);
    if size > 0 {
        complain(&[b", block of ", digits(size, 10, &mut bytes), b" bytes"]);
    }
    complain(&[b"\n"]);
    std::process::abort()
}

fn digits(mut number: usize, base: usize, text: &mut [u8]) -> &[u8] {
    let mut at = text.len();
    loop {
        at -= 1;
        text[at] = b"0123456789abcdef"[number % base];
        number /= base;
        if number == 0 {
            return &text[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_without_allocating() {
        assert_eq!(digits(0, 10, &mut [0; 20]), b"0");
        assert_eq!(digits(usize::MAX, 10, &mut [0; 20]), usize::MAX.to_string().as_bytes());
        assert_eq!(digits(0xdead_beef, 16, &mut [0; 16]), b"deadbeef");
    }
}
