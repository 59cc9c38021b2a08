//! Debug mode finds every fault that a child is made to commit: a thousand of every kind, at every size.

#![expect(clippy::print_stdout, reason = "this test is a program of its own")]

use std::alloc::{GlobalAlloc, Layout};
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::process::{Command, ExitCode};

use engine::heap::{Heap, verify};

static HEAP: Heap = Heap::new();

/// Faults of each kind.
const EACH: u64 = 1_000;
/// Blocks in use while a fault is committed, at most.
const HELD: usize = 60;

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
        let size = match self.below(20) {
            0..=15 => 1 + self.below(1100),
            16..=17 => 1 + self.below(16_000),
            18 => 1 + self.below(200_000),
            _ => 1 + self.below(5_000_000),
        };
        let align = if self.below(8) == 0 { 1 << self.below(14) } else { 1 << self.below(5) };
        Layout::from_size_align(size, align).expect("a layout")
    }
}

/// What the reports begin with.
const KINDS: [&str; 5] = ["double free", "foreign pointer", "wrong layout", "overflow", "write after free"];

/// A heap in use. It lives on from fault to fault: these are committed by children.
struct Used {
    random: Random,
    held: Vec<(*mut u8, Layout)>,
}

impl Used {
    /// Some sound operations.
    fn go_on(&mut self) {
        for _ in 0..2 + self.random.below(4) {
            let layout = self.random.layout();
            // SAFETY: every block is freed once, with its layout.
            unsafe {
                self.held.push((HEAP.alloc(layout), layout));
                if self.held.len() > HELD || self.held.len() > 3 && self.random.below(3) == 0 {
                    let (ptr, layout) = self.held.swap_remove(self.random.below(self.held.len()));
                    HEAP.dealloc(ptr, layout);
                }
            }
        }
    }
}

/// Commits a fault of a kind. A touch of a large block that was freed is stopped by the processor, without a report.
fn commit(kind: usize, used: &mut Used) {
    let Used { random, held } = used;
    // SAFETY: it is not: that is the point. The faults touch nothing but this heap's memory.
    unsafe {
        let (ptr, layout) = held[random.below(held.len())];
        match kind {
            0 => {
                HEAP.dealloc(ptr, layout);
                for _ in 0..random.below(20) {
                    let (new, other) = (random.layout(), random.layout());
                    // If the block were in use again, nobody could tell.
                    if HEAP.alloc(new) == ptr {
                        HEAP.dealloc(ptr, new);
                        break;
                    }
                    HEAP.dealloc(HEAP.alloc(other), other);
                }
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

/// Frees a large block twice that was allocated before a thousand others that are free already.
fn free_an_old_one_twice() {
    let layout = Layout::from_size_align(100_000, 8).expect("a layout");
    // SAFETY: it is not: that is the point.
    unsafe {
        let old = HEAP.alloc(layout);
        (0..1_000).for_each(|_| HEAP.dealloc(HEAP.alloc(layout), layout));
        HEAP.dealloc(old, layout);
        HEAP.dealloc(old, layout);
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
    let (mut found, mut used) =
        ([0; KINDS.len()], Used { random: Random(88_172_645_463_325_252), held: Vec::new() });
    for number in 0..EACH {
        for (kind, name) in KINDS.iter().enumerate() {
            used.go_on();
            let (status, text) = in_child(|| commit(kind, &mut used));
            let reported = text.starts_with(&format!("engine::heap: {name}: "));
            let ended_by = |signal| libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == signal;
            let stopped = *name == "write after free" && ended_by(libc::SIGSEGV);
            if reported && ended_by(libc::SIGABRT) || stopped {
                found[kind] += 1;
            } else {
                println!("{name}, number {number}: status {status:x}, `{}`", text.trim_end());
            }
        }
    }
    for (name, found) in KINDS.iter().zip(found) {
        println!("{name}: {found} of {EACH} found");
    }
    let old = in_child(free_an_old_one_twice).1;
    println!("an old block: `{}`", old.trim_end());
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
    println!("a sound program: status {status}, `{}`", text.trim_end());
    let rested = old.starts_with("engine::heap: double free: ");
    if found == [EACH; KINDS.len()] && rested && status == 0 && text.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
