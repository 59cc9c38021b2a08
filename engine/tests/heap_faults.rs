//! Debug mode finds every fault that a child is made to commit: a thousand and more, of every kind, at every size.

#![expect(clippy::print_stdout, reason = "this test is a program of its own")]

use std::alloc::{GlobalAlloc, Layout};
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::process::{Command, ExitCode};

use engine::heap::{Heap, verify};

static HEAP: Heap = Heap::new();

const FAULTS: u64 = 1_500;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }

    fn layout(&mut self) -> Layout {
        let size = match self.below(10) {
            0..=6 => 1 + self.below(1100),
            7 => 1 + self.below(16_000),
            8 => 1 + self.below(200_000),
            _ => 1 + self.below(5_000_000),
        };
        let align = if self.below(8) == 0 { 1 << self.below(14) } else { 1 << self.below(5) };
        Layout::from_size_align(size, align).expect("a layout")
    }
}

/// What the reports begin with; the seed of a fault chooses its kind.
const KINDS: [&str; 5] = ["double free", "foreign pointer", "wrong layout", "overflow", "write after free"];

/// Commits one fault among many sound operations. A touch of a large block that was freed is stopped by the processor,
/// without a report.
fn commit(seed: u64) {
    let random = &mut Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    // SAFETY: it is not: that is the point. The faults touch nothing but this heap's memory.
    unsafe {
        let mut held: Vec<(*mut u8, Layout)> = Vec::new();
        for _ in 0..random.below(60) + 4 {
            let layout = random.layout();
            held.push((HEAP.alloc(layout), layout));
            if random.below(3) == 0 {
                let (ptr, layout) = held.swap_remove(random.below(held.len()));
                HEAP.dealloc(ptr, layout);
            }
        }
        while held.len() < 3 {
            let layout = random.layout();
            held.push((HEAP.alloc(layout), layout));
        }
        let (ptr, layout) = held[random.below(held.len())];
        match seed % 5 {
            0 => {
                HEAP.dealloc(ptr, layout);
                for _ in 0..random.below(20) {
                    let (layout, other) = (random.layout(), random.layout());
                    HEAP.alloc(layout);
                    HEAP.dealloc(HEAP.alloc(other), other);
                }
                // If the block were in use again by now, nobody could tell: but its place is used again last.
                HEAP.dealloc(ptr, layout);
            }
            1 => {
                let local = [0u64; 8];
                let foreign = match random.below(4) {
                    0 => ptr.wrapping_add(1 + random.below(layout.size())),
                    1 => (&raw const local).cast_mut().cast(),
                    2 => std::alloc::System.alloc(layout),
                    _ => std::ptr::without_provenance_mut(random.next() as usize & 0x7FFF_FFFF_FFF0),
                };
                HEAP.dealloc(foreign, layout);
            }
            2 => {
                let wrong = match random.below(3) {
                    0 => Layout::from_size_align(layout.size(), layout.align() * 2),
                    1 => Layout::from_size_align(layout.size() + 1 + random.below(100), layout.align()),
                    _ => Layout::from_size_align(layout.size() / 2, layout.align()),
                };
                HEAP.dealloc(ptr, wrong.expect("a layout"));
            }
            3 => {
                let behind = ptr.add(layout.size() + random.below(8));
                *behind ^= 1 + random.below(255) as u8;
                if random.below(2) == 0 {
                    HEAP.dealloc(ptr, layout);
                }
                verify();
            }
            _ => {
                HEAP.dealloc(ptr, layout);
                let inside = ptr.add(random.below(layout.size()));
                *inside ^= 1 + random.below(255) as u8;
                if random.below(2) == 0 {
                    verify();
                }
                // Else it is found at the end of the process.
            }
        }
    }
}

/// Runs `work` in a child; its status and what it wrote to standard error.
fn in_child(work: impl FnOnce()) -> (i32, String) {
    let mut ends = [0; 2];
    // SAFETY: this process has one thread; the child ends by `exit` or by a signal.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        let child = libc::fork();
        assert!(child >= 0);
        if child == 0 {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            libc::dup2(ends[1], 2);
            work();
            libc::exit(0);
        }
        libc::close(ends[1]);
        let mut text = String::new();
        File::from_raw_fd(ends[0]).read_to_string(&mut text).expect("a pipe");
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        (status, text)
    }
}

fn main() -> ExitCode {
    if std::env::args().any(|it| it == "--list") {
        return ExitCode::SUCCESS;
    }
    if std::env::var_os("ENGINE_HEAP_DEBUG").is_none() {
        let again = Command::new(std::env::current_exe().expect("this program"))
            .env("ENGINE_HEAP_DEBUG", "1")
            .status()
            .expect("this program");
        return if again.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let mut missed = 0;
    for seed in 0..FAULTS {
        let expected = KINDS[(seed % 5) as usize];
        let (status, text) = in_child(|| commit(seed));
        let reported = text.starts_with(&format!("engine::heap: {expected}: "));
        let stopped = expected == "write after free"
            && libc::WIFSIGNALED(status)
            && libc::WTERMSIG(status) == libc::SIGSEGV;
        if !(reported && libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT || stopped) {
            missed += 1;
            println!("fault {seed}, {expected}: status {status:x}, `{}`", text.trim_end());
        }
    }
    let (status, text) = in_child(|| {
        let random = &mut Random(99);
        for _ in 0..20_000 {
            let layout = random.layout();
            // SAFETY: no fault this time.
            unsafe {
                let ptr = HEAP.alloc(layout);
                ptr.write_bytes(3, layout.size());
                let ptr = HEAP.realloc(ptr, layout, layout.size() * 2);
                HEAP.dealloc(
                    ptr,
                    Layout::from_size_align(layout.size() * 2, layout.align()).expect("a layout"),
                );
            }
        }
        verify();
    });
    println!("{} of {FAULTS} faults found", FAULTS - missed);
    println!("a sound program: status {status}, `{}`", text.trim_end());
    if missed == 0 && status == 0 && text.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
