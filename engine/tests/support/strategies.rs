//! Every way to open a trie.

use engine::LoadStrategy;

pub(crate) const STRATEGIES: [LoadStrategy; 8] = [
    LoadStrategy::Eager,
    LoadStrategy::Lazy,
    LoadStrategy::Depth(0),
    LoadStrategy::Depth(3),
    LoadStrategy::Depth(usize::MAX),
    LoadStrategy::Parallel(0),
    LoadStrategy::Parallel(3),
    LoadStrategy::Mapped,
];
