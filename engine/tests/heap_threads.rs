//! Many threads, and forks, with the heap as the allocator of the whole process.

use std::cell::RefCell;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use engine::heap::Heap;

#[global_allocator]
static HEAP: Heap = Heap::new();

fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// A block that knows what should be in it.
struct Sealed(Vec<u8>, u8);

impl Sealed {
    fn new(size: usize, seal: u8) -> Self {
        Self(vec![seal; size], seal)
    }

    fn check(&self) {
        assert!(self.0.iter().all(|it| *it == self.1), "a block of {} bytes was written to", self.0.len());
    }
}

/// Allocates, checks, frees and sends blocks to the next thread, which frees what it gets.
fn worker(number: u64, steps: u64, next: &SyncSender<Sealed>, inbox: &Receiver<Sealed>) {
    let mut state = 0x9E37_79B9 + number;
    let mut held: Vec<Option<Sealed>> = (0..300).map(|_| None).collect();
    for step in 0..steps {
        let random = xorshift(&mut state);
        let slot = (random % 300) as usize;
        if let Some(old) = held[slot].take() {
            old.check();
            if random >> 20 & 3 == 0 {
                // A full mailbox: the block is freed here.
                let _ = next.try_send(old);
            }
        } else {
            let size = match random >> 32 & 1023 {
                0 => 3 << 20,
                1..=20 => 20_000 + (random >> 44) as usize % 100_000,
                21..=200 => 1024 + (random >> 44) as usize % 12_000,
                _ => (random >> 44) as usize % 1024,
            };
            held[slot] = Some(Sealed::new(size, step as u8));
        }
        if let Ok(theirs) = inbox.try_recv() {
            theirs.check();
            if random >> 50 & 1 == 0 {
                held[slot] = Some(theirs);
            }
        }
    }
}

#[test]
fn blocks_travel_in_a_ring_of_threads() {
    const THREADS: u64 = 4;
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| sync_channel(200)).unzip();
    let mut senders: Vec<_> = senders.into_iter().map(Some).collect();
    senders.rotate_left(1);
    thread::scope(|scope| {
        for ((number, next), inbox) in (0..).zip(senders).zip(receivers) {
            scope.spawn(move || worker(number, 40_000, &next.unwrap(), &inbox));
        }
    });
}

thread_local! {
    static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
}

/// Allocates and frees while the thread's values are destroyed.
struct Late(Vec<u8>);

impl Drop for Late {
    fn drop(&mut self) {
        Sealed::new(self.0.len() + 1000, 7).check();
    }
}

#[test]
fn threads_come_and_go() {
    let kept = thread::scope(|scope| {
        let threads: Vec<_> = (0..400)
            .map(|number| {
                scope.spawn(move || {
                    LATE.set(Some(Late(vec![1; number])));
                    let many: Vec<_> = (0..200).map(|it| Sealed::new(it * 7 % 2000, number as u8)).collect();
                    many.iter().for_each(Sealed::check);
                    // Outlives its thread.
                    Sealed::new(number % 600, number as u8)
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
    });
    kept.iter().for_each(Sealed::check);
}

/// Forks while other threads allocate; the child allocates, frees what it got from its parent, starts threads, and ends.
#[test]
fn children_of_a_busy_process_can_allocate() {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..3 {
            let stop = &stop;
            scope.spawn(move || {
                let mut state = 77 + number;
                let mut held: Vec<Option<Sealed>> = (0..50).map(|_| None).collect();
                while !stop.load(Ordering::Relaxed) {
                    let random = xorshift(&mut state);
                    let slot = (random % 50) as usize;
                    let size = (random >> 20) as usize % 40_000;
                    held[slot] = held[slot].is_none().then(|| Sealed::new(size, 3));
                }
            });
        }
        for round in 0..60 {
            let inherited: Vec<_> = (0..100).map(|it| Sealed::new(it * 11, round)).collect();
            // SAFETY: the child calls nothing but the allocator, threads and `_exit`.
            let child = unsafe { libc::fork() };
            assert!(child >= 0);
            if child == 0 {
                inherited.iter().for_each(Sealed::check);
                drop(inherited);
                for size in 0..3000 {
                    Sealed::new(size, 9).check();
                }
                // SAFETY: ends the child without the parent's exit handlers.
                unsafe { libc::_exit(0) };
            }
            let mut status = 0;
            // SAFETY: waits for the child just made.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0, "round {round}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// The other tests of this file once more, in processes with the switches on.
#[test]
fn all_of_it_with_every_switch() {
    if std::env::var_os("ENGINE_HEAP_AGAIN").is_some() {
        return;
    }
    for (name, value) in [("ENGINE_HEAP_INLINE", "c0,c1,c2,c3,c4,c5,c6,c7"), ("ENGINE_HEAP_DEBUG", "1")] {
        let again = Command::new(std::env::current_exe().unwrap())
            .env(name, value)
            .env("ENGINE_HEAP_AGAIN", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&again.stderr);
        assert!(again.status.success(), "{name}: {text}{}", String::from_utf8_lossy(&again.stdout));
    }
    let refused =
        Command::new(std::env::current_exe().unwrap()).env("ENGINE_HEAP_INLINE", "c5;c6").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(refused.stderr).unwrap(),
        "engine::heap: ENGINE_HEAP_INLINE is `c5;c6`, expected a list of c0 to c7, as in `c5,c6`\n"
    );
}
