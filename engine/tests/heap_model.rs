//! Random sequences of operations against a map of what should be where.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, Layout};
use std::collections::BTreeMap;

use engine::heap::{Heap, Observed, purge};
use proptest::prelude::*;

static HEAP: Heap<Observed> = Heap::new();

#[derive(Clone, Debug)]
enum Step {
    Take { size: usize, align: u32, zeroed: bool },
    Resize { at: usize, size: usize },
    Give { at: usize },
    GiveElsewhere { at: usize, count: usize },
    Purge,
}

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 1usize..1100, 3 => 1usize..20_000, 2 => 1usize..300_000, 1 => 1usize..5_000_000]
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (sizes(), prop_oneof![6 => 0u32..5, 1 => 0u32..24], any::<bool>())
            .prop_map(|(size, align, zeroed)| Step::Take { size, align, zeroed }),
        3 => (any::<usize>(), sizes()).prop_map(|(at, size)| Step::Resize { at, size }),
        5 => any::<usize>().prop_map(|at| Step::Give { at }),
        1 => (any::<usize>(), 1usize..40).prop_map(|(at, count)| Step::GiveElsewhere { at, count }),
        1 => Just(Step::Purge),
    ]
}

/// What should be in use: address to layout and the byte that both ends are filled with.
#[derive(Default)]
struct Model(BTreeMap<usize, (Layout, u8)>);

impl Model {
    fn put(&mut self, ptr: *mut u8, layout: Layout, seal: u8) {
        let start = ptr.expose_provenance();
        assert!(start != 0 && start.is_multiple_of(layout.align()), "{layout:?}");
        let before = self.0.range(..start).next_back().map_or(0, |(at, it)| at + it.0.size());
        let after = self.0.range(start..).next().map_or(usize::MAX, |(at, _)| *at);
        assert!(before <= start && start + layout.size() <= after, "{layout:?} overlaps a neighbour");
        let ends = layout.size().min(600);
        // SAFETY: the block is in use and has the bytes of its layout.
        unsafe {
            ptr.write_bytes(seal, ends);
            ptr.add(layout.size() - ends).write_bytes(seal, ends);
        }
        self.0.insert(start, (layout, seal));
    }

    /// Takes out a block, and checks what is in it.
    fn pick(&mut self, at: usize) -> Option<(*mut u8, Layout, u8)> {
        let nth = at.checked_rem(self.0.len())?;
        let start = *self.0.keys().nth(nth)?;
        let (layout, seal) = self.0.remove(&start)?;
        let ptr = std::ptr::with_exposed_provenance_mut(start);
        check(ptr, layout.size(), seal);
        Some((ptr, layout, seal))
    }
}

fn check(ptr: *mut u8, len: usize, seal: u8) {
    // SAFETY: the callers pass blocks in use with this many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(ptr, len) };
    let ends = len.min(600);
    assert!(bytes[..ends].iter().chain(&bytes[len - ends..]).all(|it| *it == seal), "{len} bytes at {ptr:?}");
}

fn run(steps: Vec<Step>) {
    let mut model = Model::default();
    for (seal, step) in (1..=255).cycle().zip(steps) {
        // SAFETY: every block is used with its layout, and freed once.
        unsafe {
            match step {
                Step::Take { size, align, zeroed } => {
                    let layout = Layout::from_size_align(size, 1 << align).unwrap();
                    let ptr = if zeroed { HEAP.alloc_zeroed(layout) } else { HEAP.alloc(layout) };
                    if zeroed {
                        assert!(
                            std::slice::from_raw_parts(ptr, size).iter().all(|it| *it == 0),
                            "{layout:?}"
                        );
                    }
                    model.put(ptr, layout, seal);
                }
                Step::Resize { at, size } => {
                    let Some((ptr, layout, old)) = model.pick(at) else { continue };
                    let moved = HEAP.realloc(ptr, layout, size);
                    let kept = layout.size().min(size).min(600);
                    assert!(std::slice::from_raw_parts(moved, kept).iter().all(|it| *it == old));
                    model.put(moved, Layout::from_size_align(size, layout.align()).unwrap(), seal);
                }
                Step::Give { at } => {
                    if let Some((ptr, layout, _)) = model.pick(at) {
                        HEAP.dealloc(ptr, layout);
                    }
                }
                Step::GiveElsewhere { at, count } => {
                    let picked: Vec<_> = (0..count)
                        .filter_map(|it| model.pick(at.wrapping_add(it)))
                        .map(|(ptr, layout, _)| (ptr.expose_provenance(), layout))
                        .collect();
                    let free = move || {
                        for (start, layout) in picked {
                            HEAP.dealloc(std::ptr::with_exposed_provenance_mut(start), layout);
                        }
                    };
                    std::thread::spawn(free).join().unwrap();
                }
                Step::Purge => purge(),
            }
        }
    }
    while let Some((ptr, layout, _)) = model.pick(0) {
        // SAFETY: the block is in use.
        unsafe { HEAP.dealloc(ptr, layout) };
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]
    #[test]
    fn blocks_are_where_and_what_they_should_be(steps in prop::collection::vec(steps(), 1..400)) {
        run(steps);
    }
}

/// The same with all inline slots, and with every block checked.
#[test]
fn all_of_it_with_every_switch() {
    if std::env::var_os("ENGINE_HEAP_AGAIN").is_some() {
        return;
    }
    for (name, value) in [("ENGINE_HEAP_INLINE", "c1,c2,c3,c4,c5,c6,c7"), ("ENGINE_HEAP_DEBUG", "1")] {
        let again = std::process::Command::new(std::env::current_exe().unwrap())
            .env(name, value)
            .env("ENGINE_HEAP_AGAIN", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&again.stderr);
        assert!(again.status.success(), "{name}: {text}{}", String::from_utf8_lossy(&again.stdout));
    }
}
