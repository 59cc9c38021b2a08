//! JSON, for people: `{"version":1,"terms":["a","b"]}`, or `{"version":1,"terms":{"a":1,"b":2}}` with values.
//!
//! The keys may come in either order, and white space where JSON allows it; other keys are refused.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::out::Out;
use super::receiver::Receiver;
use super::source::Order;
use super::{Capacity, Error, Expected, Format, Result, Sink, Source};

const VERSION: u64 = 1;

pub(super) fn encode<S: Source + ?Sized>(source: &S, capacity: Capacity, out: &mut Out<'_>) -> Result<()> {
    let valued = source.has_values();
    if capacity == Capacity::Exact {
        // Exact but for what is escaped and for the digits of values.
        out.reserve(25 + source.text_len()? + if valued { 12 } else { 3 } * source.len());
    }
    out.push(b"{\"version\":1,\"terms\":");
    let mut order = Order::of(source);
    // What stands before a term: a comma, but before the first one what opens the rest.
    let mut before = if valued { b'{' } else { b'[' };
    source.for_each(|term, value| {
        order.check(term.as_bytes())?;
        let held = out.held();
        held.push(before);
        before = b',';
        string(held, term)?;
        if valued {
            held.push(b':');
            write(held, &value)?;
        }
        out.settle()
    })?;
    if before != b',' {
        out.push(&[before]);
    }
    out.push(if valued { b"}}" } else { b"]}" });
    Ok(())
}

/// Adds a string in quotes.
#[inline]
fn string(out: &mut Vec<u8>, term: &str) -> Result<()> {
    if !plain(term.as_bytes()) {
        return write(out, term);
    }
    out.reserve(term.len() + 2);
    out.push(b'"');
    out.extend_from_slice(term.as_bytes());
    out.push(b'"');
    Ok(())
}

/// Whether no byte has to be escaped, eight at a time: the high bit of a byte is set where a subtraction borrows.
#[inline]
fn plain(term: &[u8]) -> bool {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let equal = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let (words, rest) = term.as_chunks::<8>();
    let mut found = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        found |= below(word, u64::from(b' ')) | equal(word, b'"') | equal(word, b'\\');
    }
    found == 0 && rest.iter().all(|&byte| byte >= b' ' && byte != b'"' && byte != b'\\')
}

fn write<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<()> {
    serde_json::to_writer(out, value).map_err(|error| Error::Write(error.into()))
}

pub(super) fn decode<S: Sink>(bytes: &[u8], capacity: Capacity, receiver: Receiver<'_, S>) -> Result<()> {
    let expected = match capacity {
        Capacity::Exact => {
            // Two quotes a term, and two for each of the keys before it.
            let quotes = count(bytes, b'"');
            let terms = (quotes / 2).saturating_sub(2);
            Expected { terms, text: bytes.len().saturating_sub(quotes) }
        }
        Capacity::Growing => Expected::default(),
    };
    let state = RefCell::new(State { receiver, before: String::new(), refused: None });
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let seed = File { state: &state, expected };
    let read = seed.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    let State { receiver, refused, .. } = state.into_inner();
    let Err(error) = read else { return Ok(()) };
    let offset = offset_of(bytes, error.line(), error.column());
    Err(match refused {
        Some(Error::Malformed { format, reason, .. }) => {
            Error::Malformed { format, offset: offset as u64, reason }
        }
        Some(Error::Version { format, found, known, .. }) => {
            Error::Version { format, offset: offset as u64, found, known }
        }
        Some(Error::Limit { format, limit, .. }) => Error::Limit { format, offset: offset as u64, limit },
        Some(other) => other,
        None => receiver.malformed(offset, reason_of(&error)),
    })
}

/// How often a byte is there. A piece at a time, whose count is a byte, sixteen and more are compared at once.
fn count(bytes: &[u8], wanted: u8) -> usize {
    let of_piece = |piece: &[u8]| piece.iter().map(|&byte| u8::from(byte == wanted)).sum::<u8>();
    bytes.chunks(192).map(|piece| usize::from(of_piece(piece))).sum()
}

/// What is wrong, without the line and the column that stand at its end.
fn reason_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or_else(|| text.clone(), str::to_owned)
}

/// The byte at a line and a column, both from 1. serde counts columns in bytes.
fn offset_of(bytes: &[u8], line: usize, column: usize) -> usize {
    let before = line.saturating_sub(1);
    let start = match before.checked_sub(1) {
        None => 0,
        Some(nth) => {
            let mut ends = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
            ends.nth(nth).map_or(0, |(at, _)| at + 1)
        }
    };
    (start + column.saturating_sub(1)).min(bytes.len())
}

/// What the visitors share.
struct State<'s, S> {
    receiver: Receiver<'s, S>,
    before: String,
    /// Why it was not serde that ended the decoding.
    refused: Option<Error>,
}

impl<S: Sink> State<'_, S> {
    /// Passes a term on. Where it is, only serde knows.
    fn take(&mut self, term: &str, value: u64) -> Result<()> {
        self.receiver.order(self.before.as_bytes(), term.as_bytes(), 0)?;
        self.receiver.str(term, value, 0)?;
        self.before.clear();
        self.before.push_str(term);
        Ok(())
    }
}

type Shared<'a, 's, S> = &'a RefCell<State<'s, S>>;

/// Keeps the reason for later, and ends the decoding.
fn refuse<S, E: serde::de::Error>(state: Shared<'_, '_, S>, why: Error) -> E {
    state.borrow_mut().refused = Some(why);
    E::custom("the dictionary was refused")
}

/// The whole.
struct File<'a, 's, S> {
    state: Shared<'a, 's, S>,
    expected: Expected,
}

impl<'de, S: Sink> DeserializeSeed<'de> for File<'_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for File<'_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `version` and `terms`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let (mut versions, mut terms) = (0, 0);
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Version => {
                    versions += 1;
                    let found: u64 = map.next_value()?;
                    if found != VERSION {
                        let (format, offset) = (Format::Json, 0);
                        return Err(refuse(
                            self.state,
                            Error::Version { format, offset, found, known: VERSION },
                        ));
                    }
                }
                Key::Terms => {
                    terms += 1;
                    if terms > 1 {
                        return Err(A::Error::custom("`terms` is there twice"));
                    }
                    map.next_value_seed(Terms { state: self.state, expected: self.expected })?;
                }
            }
        }
        match (versions, terms) {
            (1, 1) => Ok(()),
            (1, _) => Err(A::Error::custom("`terms` is missing")),
            (0, _) => Err(A::Error::custom("`version` is missing")),
            _ => Err(A::Error::custom("`version` is there twice")),
        }
    }
}

enum Key {
    Version,
    Terms,
}

impl<'de> serde::Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Known;
        impl Visitor<'_> for Known {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`version` or `terms`")
            }

            fn visit_str<E: serde::de::Error>(self, key: &str) -> std::result::Result<Key, E> {
                match key {
                    "version" => Ok(Key::Version),
                    "terms" => Ok(Key::Terms),
                    other => {
                        let start: String = other.chars().take(60).collect();
                        Err(E::unknown_field(&start, &["version", "terms"]))
                    }
                }
            }
        }
        deserializer.deserialize_identifier(Known)
    }
}

/// The value of `terms`.
struct Terms<'a, 's, S> {
    state: Shared<'a, 's, S>,
    expected: Expected,
}

impl<'de, S: Sink> DeserializeSeed<'de> for Terms<'_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<S: Sink> Terms<'_, '_, S> {
    fn start<E: serde::de::Error>(&self, valued: bool) -> std::result::Result<(), E> {
        let started = self.state.borrow_mut().receiver.start(valued, self.expected);
        started.map_err(|why| refuse(self.state, why))
    }
}

impl<'de, S: Sink> Visitor<'de> for Terms<'_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of terms, or an object from terms to values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut terms: A) -> std::result::Result<(), A::Error> {
        self.start(false)?;
        while terms.next_element_seed(Term(self.state, 0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut terms: A) -> std::result::Result<(), A::Error> {
        self.start(true)?;
        // A value stands behind its term, so the term waits for it.
        let mut term = String::new();
        while terms.next_key_seed(Held(&mut term))?.is_some() {
            let value = terms.next_value()?;
            Term(self.state, value).visit_str(&term)?;
        }
        Ok(())
    }
}

/// A term of an array, on its way to the receiver.
struct Term<'a, 's, S>(Shared<'a, 's, S>, u64);

impl<'de, S: Sink> DeserializeSeed<'de> for Term<'_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<S: Sink> Visitor<'_> for Term<'_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a term")
    }

    fn visit_str<E: serde::de::Error>(self, term: &str) -> std::result::Result<(), E> {
        let taken = self.0.borrow_mut().take(term, self.1);
        taken.map_err(|why| refuse(self.0, why))
    }
}

/// A term that is kept until its value is known.
struct Held<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Held<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Held<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a term")
    }

    fn visit_str<E: serde::de::Error>(self, term: &str) -> std::result::Result<(), E> {
        self.0.clear();
        self.0.push_str(term);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte at every place, beside bytes that borrow from it.
    #[test]
    fn what_is_plain() {
        for byte in 0..=u8::MAX {
            for at in 0..20 {
                for beside in [b'a', 0xFF, b' ', 0x80] {
                    let mut term = [beside; 20];
                    term[at] = byte;
                    let expected = byte >= b' ' && byte != b'"' && byte != b'\\';
                    assert_eq!(plain(&term), expected, "{byte} at {at} beside {beside}");
                }
            }
        }
    }

    #[test]
    fn bytes_are_counted() {
        let bytes = "\"a".repeat(1_000);
        assert_eq!((count(bytes.as_bytes(), b'"'), count(b"", b'"'), count(&[7; 193], 7)), (1_000, 0, 193));
    }
}
