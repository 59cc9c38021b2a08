//! The switches that are read once, when the process first allocates.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use super::os;
use super::sizes::HOT_CLASSES;

/// What the heap of this process was started with.
///
/// Its text names every switch: an experiment compares it with what an arm should run with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Hot classes with inline slots, bit `k` for `Ck`: `ENGINE_HEAP_INLINE=c5,c6`.
    pub inline: u8,
    /// Whether every block is checked: `ENGINE_HEAP_DEBUG=1`.
    pub debug: bool,
}

const READ: u32 = 1 << 16;
const DEBUG: u32 = 1 << 8;

static CONFIGURATION: AtomicU32 = AtomicU32::new(0);

impl Configuration {
    /// What this process runs with. Reads the environment the first time, without allocating.
    ///
    /// A switch that cannot be understood ends the process with status 2 and a message: a heap that quietly runs
    /// otherwise than asked would spoil a measurement.
    pub fn get() -> Self {
        let seen = CONFIGURATION.load(Ordering::Relaxed);
        if seen != 0 {
            return Self { inline: seen as u8, debug: seen & DEBUG != 0 };
        }
        let inline = os::variable(c"ENGINE_HEAP_INLINE").unwrap_or_default();
        let debug = os::variable(c"ENGINE_HEAP_DEBUG").unwrap_or_default();
        let Some(mask) = parse_inline(inline) else {
            refuse(b"ENGINE_HEAP_INLINE", inline, b"a list of c0 to c7, as in `c5,c6`");
        };
        let Some(debug) = parse_switch(debug) else {
            refuse(b"ENGINE_HEAP_DEBUG", debug, b"0 or 1");
        };
        let it = Self { inline: mask, debug };
        let word = READ | u32::from(it.inline) | if it.debug { DEBUG } else { 0 };
        // Whoever comes second has read the same.
        CONFIGURATION.store(word, Ordering::Relaxed);
        it
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("inline=")?;
        for (at, class) in (0..HOT_CLASSES).filter(|it| self.inline >> it & 1 == 1).enumerate() {
            write!(f, "{}c{class}", if at == 0 { "" } else { "," })?;
        }
        f.write_str(if self.inline == 0 { "none" } else { "" })?;
        f.write_str(if self.debug { " debug=on" } else { " debug=off" })
    }
}

/// The classes of a list like `c5,c6`; nothing and `none` are no class.
fn parse_inline(text: &[u8]) -> Option<u8> {
    if text.trim_ascii().is_empty() || text == b"none" {
        return Some(0);
    }
    text.split(|&it| it == b',').try_fold(0, |mask, class| match class.trim_ascii() {
        [b'c' | b'C', digit @ b'0'..=b'7'] => Some(mask | 1 << (digit - b'0')),
        _ => None,
    })
}

fn parse_switch(text: &[u8]) -> Option<bool> {
    match text {
        b"" | b"0" => Some(false),
        b"1" => Some(true),
        _ => None,
    }
}

fn refuse(name: &[u8], found: &[u8], expected: &[u8]) -> ! {
    os::complain(&[
        b"engine::heap: ",
        name,
        b" is `",
        &found[..found.len().min(200)],
        b"`, expected ",
        expected,
        b"\n",
    ]);
    // SAFETY: ends the process without running anything of it, which the heap could not serve.
    unsafe { libc::_exit(2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_classes() {
        for (text, expected) in [
            ("", Some(0)),
            ("none", Some(0)),
            ("c5", Some(1 << 5)),
            ("c5,c6", Some(3 << 5)),
            (" C0 , c7", Some(0x81)),
            ("c8", None),
            ("c5,", None),
            ("5", None),
            ("c5 c6", None),
        ] {
            assert_eq!(parse_inline(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(
            [parse_switch(b""), parse_switch(b"1"), parse_switch(b"yes")],
            [Some(false), Some(true), None]
        );
    }

    #[test]
    fn its_text_names_every_switch() {
        let text = |inline, debug| Configuration { inline, debug }.to_string();
        assert_eq!(text(0, false), "inline=none debug=off");
        assert_eq!(text(3 << 5, true), "inline=c5,c6 debug=on");
    }
}
