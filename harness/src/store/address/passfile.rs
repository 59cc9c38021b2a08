//! The password file: `~/.pgpass`, or what `passfile` and `PGPASSFILE` name.
//!
//! A line is `host:port:database:user:password`; `*` is anything, and `\` takes the meaning from `:` and `\`.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A password file larger than this is something else.
const LARGEST: u64 = 1 << 20;

/// What a password file has for a place.
#[derive(PartialEq, Eq)]
pub(super) enum Entry {
    /// This password.
    Password(String),
    /// No line, or no file.
    Missing,
    /// A file that is not to be trusted, and why.
    Ignored(&'static str),
}

/// The first line of `file` for this place, as libpq finds it. A socket in the usual folder is `localhost`.
pub(super) fn find(file: &Path, host: &str, port: u16, database: &str, user: &str) -> Entry {
    let Ok(opened) = File::open(file) else { return Entry::Missing };
    let Ok(meta) = opened.metadata() else { return Entry::Missing };
    if !meta.is_file() {
        return Entry::Ignored("it is not a plain file");
    }
    if meta.mode() & 0o077 != 0 {
        return Entry::Ignored("others may read it: chmod 0600");
    }
    if meta.len() > LARGEST {
        return Entry::Ignored("it is too large");
    }
    let mut bytes = Vec::new();
    if opened.take(LARGEST).read_to_end(&mut bytes).is_err() {
        return Entry::Ignored("it cannot be read");
    }
    let wanted = [host, &port.to_string(), database, user];
    let text = String::from_utf8_lossy(&bytes);
    text.lines().find_map(|it| password_of(it, &wanted)).map_or(Entry::Missing, Entry::Password)
}

/// The password of a line that is for the wanted host, port, database and user.
fn password_of(line: &str, wanted: &[&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut rest = line;
    for wanted in wanted {
        let (field, after) = field_of(rest)?;
        if field != "*" && unescaped(field) != *wanted {
            return None;
        }
        rest = after;
    }
    // A colon ends the password too, as in libpq.
    let password = field_of(rest).map_or(rest, |(field, _)| field);
    Some(unescaped(password)).filter(|it| !it.is_empty())
}

/// The text before the first colon that is not escaped, and the text behind it.
fn field_of(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.char_indices().find(|(_, c)| {
        let ends = *c == ':' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    })?;
    Some((&text[..end.0], &text[end.0 + 1..]))
}

fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        if c == '\\' { out.extend(chars.next()) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = text.lines().find_map(|it| password_of(it, &["db.example", "5432", "perf", "alice"]));
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn lines_are_read_as_libpq_reads_them() {
        check("db.example:5432:perf:alice:s3cret", Some("s3cret"));
        check("*:*:*:*:any", Some("any"));
        check(
            "#db.example:5432:perf:alice:no\nother:*:*:*:no\n*:5432:*:alice:yes\n*:*:*:*:late",
            Some("yes"),
        );
        check(r"*:*:*:*:a\:b\\c", Some(r"a:b\c"));
        check("*:*:*:*:pass:rest", Some("pass"));
        check("*:*:*:*:", None);
        check("*:*:*:*", None);
        check("db.example:5433:perf:alice:no", None);
        check(r"d\b.example:*:*:*:yes", Some("yes"));
        check(r"\*:*:*:*:no", None);
        check("", None);
        check(r"*:*:*:*:ends\", Some("ends"));
    }

    #[test]
    fn a_file_that_others_can_read_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        let look = |path: &Path| find(path, "h", 5432, "d", "u");
        assert!(look(&file) == Entry::Missing);
        fs::write(&file, "h:5432:d:u:s3cret\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(look(&file), Entry::Ignored(why) if why.contains("0600")));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(look(&file) == Entry::Password("s3cret".to_owned()));
        assert!(matches!(look(folder.path()), Entry::Ignored(_)));
    }
}
