//! Texts as symbols, and where a pattern is in them.

use engine::Position;
use engine::symbol::Symbol;

/// The text that symbols spell.
pub(crate) fn spell<K: Symbol>(symbols: &[K]) -> K::Owned {
    let mut bytes = Vec::new();
    symbols.iter().for_each(|symbol| symbol.push(&mut bytes));
    K::key(&bytes).unwrap()
}

/// Where `pattern` is, by the plainest search there is.
pub(crate) fn positions<K: Symbol>(texts: &[Vec<K>], pattern: &[K]) -> Vec<Position> {
    let mut found = Vec::new();
    for (document, text) in texts.iter().enumerate() {
        for offset in 0..=text.len() {
            if text[offset..].starts_with(pattern) {
                found.push(Position { document: document as u32, offset: offset as u32 });
            }
        }
    }
    found
}

pub(crate) fn sorted(mut positions: Vec<Position>) -> Vec<Position> {
    positions.sort_unstable();
    positions
}
