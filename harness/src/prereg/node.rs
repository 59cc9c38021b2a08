//! A document before it is written, as TOML or as JSON.

use std::fmt::Write as _;

pub(super) type Keys = Vec<(String, Node)>;

/// A value that is written.
pub(super) enum Node {
    Bool(bool),
    Int(i64),
    Whole(u64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    /// `{ a = 1 }`
    Inline(Keys),
    /// `[a]`
    Section(Keys),
    /// `[[a]]`, each of them a section.
    Sections(Vec<Node>),
}

/// Keys with fixed names.
pub(super) fn named(keys: impl IntoIterator<Item = (&'static str, Node)>) -> Keys {
    keys.into_iter().map(|(name, node)| (name.to_owned(), node)).collect()
}

impl Node {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(super) fn texts(texts: &[String]) -> Self {
        Self::List(texts.iter().map(|it| Self::text(it)).collect())
    }

    pub(super) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Bool(it) => (*it).into(),
            Self::Int(it) => (*it).into(),
            Self::Whole(it) => (*it).into(),
            Self::Float(it) => (*it).into(),
            Self::Text(it) => it.as_str().into(),
            Self::List(members) | Self::Sections(members) => members.iter().map(Self::to_json).collect(),
            Self::Inline(keys) | Self::Section(keys) => {
                keys.iter().map(|(name, node)| (name.clone(), node.to_json())).collect()
            }
        }
    }

    /// A section as a whole document. Keys that are no sections must come first.
    pub(super) fn to_toml(&self) -> String {
        let mut out = String::new();
        if let Self::Section(keys) = self {
            section(&mut out, "", keys);
        }
        out
    }
}

/// Writes the keys of a section, and the sections within it under their own headers.
fn section(out: &mut String, path: &str, keys: &Keys) {
    for (name, node) in keys {
        let inner = if path.is_empty() { key(name) } else { format!("{path}.{}", key(name)) };
        match node {
            Node::Section(keys) => {
                // A section of nothing but sections needs no header of its own.
                let only_sections =
                    !keys.is_empty() && keys.iter().all(|(_, it)| matches!(it, Node::Section(_)));
                if !only_sections {
                    line(out, format_args!("\n[{inner}]"));
                }
                section(out, &inner, keys);
            }
            Node::Sections(members) => {
                for member in members {
                    line(out, format_args!("\n[[{inner}]]"));
                    if let Node::Section(keys) = member {
                        section(out, &inner, keys);
                    }
                }
            }
            value => {
                out.push_str(&key(name));
                out.push_str(" = ");
                inline(out, value);
                out.push('\n');
            }
        }
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a string succeeds");
}

fn inline(out: &mut String, node: &Node) {
    match node {
        Node::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Node::Int(it) => out.push_str(&it.to_string()),
        Node::Whole(it) => out.push_str(&it.to_string()),
        // The shortest form that reads back as the same number, with a point or an exponent.
        Node::Float(it) => out.push_str(&format!("{it:?}")),
        Node::Text(it) => quoted(out, it),
        Node::List(members) | Node::Sections(members) => {
            out.push('[');
            for (i, member) in members.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                inline(out, member);
            }
            out.push(']');
        }
        Node::Inline(keys) | Node::Section(keys) => {
            out.push('{');
            for (i, (name, value)) in keys.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { " " });
                out.push_str(&key(name));
                out.push_str(" = ");
                inline(out, value);
            }
            out.push_str(if keys.is_empty() { "}" } else { " }" });
        }
    }
}

/// A key, quoted where it must be.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(bare) {
        return name.to_owned();
    }
    let mut out = String::new();
    quoted(&mut out, name);
    out
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}
