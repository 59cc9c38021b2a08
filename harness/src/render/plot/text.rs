//! How wide a text will be, and what to do when there is no room for it.
//!
//! A plot is made without fonts, so widths are estimated on the generous side of the usual sans-serif fonts.

use unicode_width::UnicodeWidthChar;

/// Font sizes, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// Second lines and ticks.
    Small,
    /// Labels.
    Label,
    /// The heading of a plot.
    Title,
}

impl Size {
    /// The size in pixels.
    pub(super) fn pixels(self) -> i32 {
        match self {
            Self::Small => 12,
            Self::Label => 13,
            Self::Title => 16,
        }
    }
}

/// Joins the characters round it into one.
const JOINER: char = '\u{200D}';

/// The advance of a character, in hundredths of the font size.
fn advance(c: char) -> i32 {
    match (c.width().unwrap_or(0), c) {
        (0, _) => 0,
        (1, 'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!') => 36,
        (1, 'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '/' | '-') => 42,
        (1, 'm' | 'w' | 'M' | 'W' | '%' | '@') => 90,
        (1, 'A'..='Z' | '−' | '+' | '=' | '<' | '>' | '~') => 70,
        (1, ' '..='~') => 59,
        (1, _) => 70,
        _ => 104,
    }
}

/// The estimated width of `text`, in pixels.
pub(super) fn width(text: &str, size: Size, bold: bool) -> i32 {
    let hundredths: i32 = text.chars().map(advance).fold(0, i32::saturating_add);
    let pixels = hundredths.saturating_mul(size.pixels()) / 100;
    1 + if bold { pixels.saturating_mul(108) / 100 } else { pixels }
}

/// `text` on one line and without characters that have no place in a picture: white space becomes a blank;
/// control characters, and those that turn the direction of what follows, are dropped.
pub(super) fn clean(text: &str) -> String {
    let shown = text.chars().filter_map(|c| match c {
        _ if c.is_whitespace() => Some(' '),
        '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' => None,
        '\u{FFFE}' | '\u{FFFF}' => None,
        _ if c.is_control() => None,
        _ => Some(c),
    });
    shown.collect::<String>().trim().to_owned()
}

/// `text`, or as much of its beginning as fits into `room` pixels together with an ellipsis.
pub(super) fn shorten(text: &str, size: Size, bold: bool, room: i32) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    let mut kept = 0;
    let mut joined = false;
    for (at, c) in text.char_indices() {
        // Only between characters: marks stay with the letter before them.
        if c.width().unwrap_or(0) > 0 && !joined {
            if width(&text[..at], size, bold) + width("…", size, bold) > room {
                break;
            }
            kept = at;
        }
        joined = c == JOINER;
    }
    format!("{}…", text[..kept].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_fits() {
        for text in
            ["e\u{301}".repeat(60), "測定テスト".repeat(12), "👩\u{200D}🔬".repeat(30), "m".repeat(99)]
        {
            let short = shorten(&text, Size::Label, true, 100);
            assert!(short.ends_with('…') && width(&short, Size::Label, true) <= 100, "{short}");
        }
        assert_eq!(shorten("e\u{301}e\u{301}e\u{301}e\u{301}", Size::Label, false, 30), "e\u{301}e\u{301}…");
        assert_eq!(shorten("short", Size::Label, false, 100), "short");
        assert_eq!(shorten("no room", Size::Label, false, 0), "…");
    }

    #[test]
    fn controls_are_dropped_and_lines_joined() {
        assert_eq!(clean("a\nb\u{0}\u{7}c\t\u{202E}d \u{85}"), "a bc d");
    }
}
