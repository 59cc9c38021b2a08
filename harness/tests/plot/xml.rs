//! Just enough XML to judge a plot: whether it is well-formed, and where its texts stand.

use unicode_width::UnicodeWidthChar;

/// A text of a plot and the box that it takes up, give or take.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) text: String,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Placed {
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// Width and height of the picture and its texts. Panics where the document is not well-formed.
pub(crate) fn texts(svg: &str) -> (f64, f64, Vec<Placed>) {
    let (mut size, mut placed) = (None, Vec::new());
    let mut open: Vec<(String, Vec<(String, String)>)> = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        let content = characters(&rest[..at]);
        match open.last() {
            Some((name, attributes)) if name == "text" && !content.trim().is_empty() => {
                placed.push(place(content.trim(), attributes));
            }
            Some(_) => {}
            None => assert!(content.trim().is_empty(), "text outside of the root: {content}"),
        }
        let (tag, after) = rest[at + 1..].split_once('>').expect("a tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().map(|(name, _)| name).as_deref(), Some(name), "tags are nested");
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |it| (it, true));
        let (name, attributes) = tag.split_once(' ').map_or((tag, Vec::new()), |(n, a)| (n, attributes(a)));
        assert!(!name.is_empty() && name.chars().all(char::is_alphabetic), "`{name}` is a name");
        if open.is_empty() {
            assert!(name == "svg" && size.is_none(), "one root");
            size = Some((number(&attributes, "width"), number(&attributes, "height")));
        }
        if !closed {
            open.push((name.to_owned(), attributes));
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "left open: {open:?}");
    let (width, height) = size.expect("a root");
    (width, height, placed)
}

fn attributes(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").expect("an attribute has a value");
        let (value, after) = after.split_once('"').expect("a value ends");
        assert!(found.iter().all(|(it, _)| it != name), "`{name}` twice");
        found.push((name.to_owned(), characters(value)));
        rest = after.trim_start();
    }
    found
}

/// Character data with its entities read.
fn characters(raw: &str) -> String {
    let forbidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r') || c == '<';
    assert!(!raw.chars().any(forbidden), "`{raw}` holds what XML does not allow");
    let mut pieces = raw.split('&');
    let mut read = pieces.next().unwrap_or("").to_owned();
    for piece in pieces {
        let (entity, after) = piece.split_once(';').expect("an entity ends");
        read.push(match entity {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            other => panic!("unknown entity `{other}`"),
        });
        read.push_str(after);
    }
    read
}

fn number(attributes: &[(String, String)], name: &str) -> f64 {
    let found = attributes.iter().find(|(it, _)| it == name);
    found.and_then(|(_, value)| value.parse().ok()).unwrap_or_else(|| panic!("no number `{name}`"))
}

/// The width of a letter in Helvetica, near enough, as a share of the font size.
fn letter(c: char) -> f64 {
    match (c.width().unwrap_or(0), c) {
        (0, _) => 0.0,
        (1, 'm' | 'w' | 'M' | 'W' | '%' | '@') => 0.87,
        (1, 'f' | 'i' | 'j' | 'l' | 'r' | 't' | 'I' | ' '..='/' | ':' | ';' | '[' | ']' | '|' | '`') => 0.33,
        (1, 'A'..='Z') => 0.69,
        (1, _) => 0.56,
        _ => 1.0,
    }
}

fn place(text: &str, attributes: &[(String, String)]) -> Placed {
    let (x, y, size) = (number(attributes, "x"), number(attributes, "y"), number(attributes, "font-size"));
    let width = text.chars().map(letter).sum::<f64>() * size;
    let left = match attributes.iter().find(|(it, _)| it == "text-anchor").map(|(_, it)| it.as_str()) {
        Some("middle") => x - width / 2.0,
        Some("end") => x - width,
        _ => x,
    };
    let text = text.to_owned();
    Placed { text, left, right: left + width, top: y - size * 0.55, bottom: y + size * 0.55 }
}
