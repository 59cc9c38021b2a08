//! Connection strings: `postgres://` URLs and `key=value` pairs, read as libpq reads them.
//!
//! No problem that is told here quotes a value: a password that was mistyped into the wrong place is one still.

use crate::store::StoreError;
use std::collections::BTreeMap;

/// What a word of a connection string is to the harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Understood here.
    Own,
    /// For the client library, under this name.
    Library(&'static str),
    /// Changes nothing for a client like this.
    Idle,
    /// Asks for what the harness does not have; only these values ask for nothing.
    Without(&'static [&'static str]),
}

/// The words of connection strings, with the variables that stand for them.
pub(super) const WORDS: &[(&str, &str, Kind)] = &[
    ("host", "PGHOST", Kind::Own),
    ("hostaddr", "PGHOSTADDR", Kind::Own),
    ("port", "PGPORT", Kind::Own),
    ("user", "PGUSER", Kind::Own),
    ("password", "PGPASSWORD", Kind::Own),
    ("passfile", "PGPASSFILE", Kind::Own),
    ("dbname", "PGDATABASE", Kind::Own),
    ("service", "PGSERVICE", Kind::Own),
    ("sslmode", "PGSSLMODE", Kind::Own),
    ("sslrootcert", "PGSSLROOTCERT", Kind::Own),
    ("sslcert", "PGSSLCERT", Kind::Own),
    ("sslkey", "PGSSLKEY", Kind::Own),
    ("target_session_attrs", "PGTARGETSESSIONATTRS", Kind::Own),
    ("channel_binding", "PGCHANNELBINDING", Kind::Library("channel_binding")),
    ("sslnegotiation", "PGSSLNEGOTIATION", Kind::Library("sslnegotiation")),
    ("options", "PGOPTIONS", Kind::Library("options")),
    ("application_name", "PGAPPNAME", Kind::Library("application_name")),
    ("connect_timeout", "PGCONNECT_TIMEOUT", Kind::Library("connect_timeout")),
    ("tcp_user_timeout", "", Kind::Own),
    ("keepalives", "", Kind::Library("keepalives")),
    ("keepalives_idle", "", Kind::Library("keepalives_idle")),
    ("keepalives_interval", "", Kind::Library("keepalives_interval")),
    ("keepalives_count", "", Kind::Library("keepalives_retries")),
    ("fallback_application_name", "", Kind::Idle),
    ("client_encoding", "", Kind::Idle),
    ("sslcompression", "", Kind::Idle),
    ("sslsni", "", Kind::Idle),
    ("krbsrvname", "", Kind::Idle),
    ("gsslib", "", Kind::Idle),
    ("gssencmode", "PGGSSENCMODE", Kind::Without(&["disable", "prefer"])),
    ("gssdelegation", "", Kind::Without(&["0"])),
    ("load_balance_hosts", "PGLOADBALANCEHOSTS", Kind::Without(&["disable"])),
    ("sslcrl", "PGSSLCRL", Kind::Without(&[""])),
    ("sslcrldir", "PGSSLCRLDIR", Kind::Without(&[""])),
    ("sslpassword", "", Kind::Without(&[""])),
    ("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION", Kind::Without(&["TLSv1", "TLSv1.1", "TLSv1.2"])),
    ("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", Kind::Without(&["", "TLSv1.3"])),
    ("sslcertmode", "PGSSLCERTMODE", Kind::Without(&["allow"])),
    ("requirepeer", "PGREQUIREPEER", Kind::Without(&[""])),
    ("require_auth", "PGREQUIREAUTH", Kind::Without(&[""])),
    ("replication", "", Kind::Without(&["false", "off", "no", "0"])),
];

/// The words of a connection, by name.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Words(BTreeMap<&'static str, String>);

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Words {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether the word is not there, or says nothing.
    pub(super) fn lacks(&self, name: &str) -> bool {
        self.get(name).is_none_or(str::is_empty)
    }

    /// Takes a word from a connection string or a service file. The last one of a name counts.
    pub(super) fn put(&mut self, name: &str, value: String) -> Result<(), StoreError> {
        let Some((known, _, kind)) = WORDS.iter().find(|(it, ..)| *it == name) else {
            return Err(unknown(name));
        };
        if value.contains('\0') {
            return Err(problem(format!("{known} has U+0000 in it")));
        }
        if let Kind::Without(harmless) = kind
            && !harmless.contains(&value.as_str())
        {
            return Err(problem(format!("{known} asks for something that the harness does not have")));
        }
        self.0.insert(known, value);
        Ok(())
    }

    /// As [`put`](Self::put), where nothing was said before.
    pub(super) fn put_default(&mut self, name: &str, value: String) -> Result<(), StoreError> {
        if self.0.contains_key(name) { Ok(()) } else { self.put(name, value) }
    }
}

pub(super) fn problem(problem: impl Into<String>) -> StoreError {
    StoreError::Url { problem: problem.into() }
}

fn unknown(name: &str) -> StoreError {
    let near = WORDS
        .iter()
        .map(|(it, ..)| (strsim::jaro_winkler(it, name), *it))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness > 0.85);
    problem(near.map_or_else(
        // Whatever stands here may be the half of a password with an `&` or a blank in it.
        || "unknown option".to_owned(),
        |(_, near)| format!("unknown option, did you mean `{near}`?"),
    ))
}

/// Reads a URL or pairs; nothing is looked up or filled in.
pub(super) fn parse(text: &str) -> Result<Words, StoreError> {
    let text = text.trim();
    match text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://")) {
        Some(rest) => url(rest),
        None => pairs(text),
    }
}

fn url(rest: &str) -> Result<Words, StoreError> {
    let mut words = Words::default();
    let (before, query) = split_query(rest);
    let (authority, path) = before.split_once('/').unwrap_or((before, ""));
    if path.contains('@') {
        return Err(problem(
            "an `@` after a `/`: in user and password write `/` as %2F, `@` as %40, `?` as %3F and `%` as %25",
        ));
    }
    let (login, hosts) = authority.rsplit_once('@').map_or(("", authority), |(login, hosts)| (login, hosts));
    let (user, password) =
        login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
    if !user.is_empty() {
        words.put("user", decoded("user", user)?)?;
    }
    if let Some(password) = password.filter(|it| !it.is_empty()) {
        words.put("password", decoded("password", password)?)?;
    }
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for place in hosts.split(',') {
        let (name, port) = place_of(place)?;
        names.push(decoded("host", name)?);
        ports.push(port.to_owned());
    }
    if names.iter().any(|it| !it.is_empty()) {
        words.put("host", names.join(","))?;
    }
    if ports.iter().any(|it| !it.is_empty()) {
        words.put("port", ports.join(","))?;
    }
    if !path.is_empty() {
        words.put("dbname", decoded("dbname", path)?)?;
    }
    for pair in query.split('&').filter(|it| !it.is_empty()) {
        let (name, value) =
            pair.split_once('=').ok_or_else(|| problem("an option without a value after the `?`"))?;
        let value = decoded("an option", value)?;
        match name {
            // As JDBC says it.
            "ssl" if value == "true" => words.put("sslmode", "require".to_owned())?,
            _ => words.put(name, value)?,
        }
    }
    Ok(words)
}

/// The query of a URL begins at the first `?` that is not in the password.
fn split_query(rest: &str) -> (&str, &str) {
    let slash = rest.find('/').unwrap_or(rest.len());
    let login = rest[..slash].rfind('@').unwrap_or(0);
    match rest[login..].find('?') {
        Some(at) => (&rest[..login + at], &rest[login + at + 1..]),
        None => (rest, ""),
    }
}

/// Host and port; a numeric address of version 6 stands in brackets.
fn place_of(place: &str) -> Result<(&str, &str), StoreError> {
    if let Some(rest) = place.strip_prefix('[') {
        let (name, rest) = rest.split_once(']').ok_or_else(|| problem("a `[` without its `]`"))?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((name, port)),
            None if rest.is_empty() => Ok((name, "")),
            None => Err(problem("something between `]` and the port")),
        };
    }
    Ok(place.split_once(':').unwrap_or((place, "")))
}

fn decoded(what: &str, text: &str) -> Result<String, StoreError> {
    let broken = || problem(format!("a `%` without two hexadecimal digits in {what}; write `%` as %25"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|it| char::from(it).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else { return Err(broken()) };
        bytes.push(u8::try_from(high * 16 + low).map_err(|_| broken())?);
    }
    String::from_utf8(bytes).map_err(|_| problem(format!("{what} is not UTF-8")))
}

fn pairs(text: &str) -> Result<Words, StoreError> {
    let mut words = Words::default();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or_else(|| problem("expected `key=value` or a URL"))?;
        let (value, left) = value_of(after.trim_start())?;
        words.put(name.trim(), value)?;
        rest = left.trim_start();
    }
    Ok(words)
}

/// A value to white space, or to the quote that closes it, and what follows.
fn value_of(text: &str) -> Result<(String, &str), StoreError> {
    let (quoted, text) = text.strip_prefix('\'').map_or((false, text), |it| (true, it));
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '\\' => value.extend(chars.next().map(|(_, it)| it)),
            '\'' if quoted => return Ok((value, &text[i + 1..])),
            _ if !quoted && c.is_whitespace() => return Ok((value, &text[i..])),
            _ => value.push(c),
        }
    }
    if quoted { Err(problem("a quote that is not closed")) } else { Ok((value, "")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let words = parse(text).unwrap();
        let found: Vec<_> = words.0.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let error = parse(text).unwrap_err().to_string();
        assert_eq!(error, format!("unusable database URL: {expected}"), "{text}");
        assert!(!error.contains("s3"), "{error}");
    }

    /// The examples of PostgreSQL 18's manual, section 32.1.1, among others.
    #[test]
    fn urls_are_read_as_libpq_reads_them() {
        check("postgresql://", &[]);
        check("postgresql://localhost", &[("host", "localhost")]);
        check("postgresql://localhost:5433", &[("host", "localhost"), ("port", "5433")]);
        check("postgresql://localhost/mydb", &[("dbname", "mydb"), ("host", "localhost")]);
        check(
            "postgresql://user:secret@localhost",
            &[("host", "localhost"), ("password", "secret"), ("user", "user")],
        );
        check(
            "postgresql://other@localhost/otherdb?connect_timeout=10&application_name=myapp",
            &[
                ("application_name", "myapp"),
                ("connect_timeout", "10"),
                ("dbname", "otherdb"),
                ("host", "localhost"),
                ("user", "other"),
            ],
        );
        check(
            "postgresql://host1:123,host2:456/somedb?target_session_attrs=any",
            &[
                ("dbname", "somedb"),
                ("host", "host1,host2"),
                ("port", "123,456"),
                ("target_session_attrs", "any"),
            ],
        );
        check(
            "postgresql:///mydb?host=localhost&port=5433",
            &[("dbname", "mydb"), ("host", "localhost"), ("port", "5433")],
        );
        check(
            "postgresql://[2001:db8::1234]/database",
            &[("dbname", "database"), ("host", "2001:db8::1234")],
        );
        check("postgresql://%2Fvar%2Flib/dbname", &[("dbname", "dbname"), ("host", "/var/lib")]);
        check("postgres://h1,h2:2", &[("host", "h1,h2"), ("port", ",2")]);
        check(
            "postgres://a:p%40s%2Fs@h?ssl=true",
            &[("host", "h"), ("password", "p@s/s"), ("sslmode", "require"), ("user", "a")],
        );
        // More lenient than libpq, which would take what follows the first `@` for the host.
        check(
            "postgres://a:p@ss?@h/d",
            &[("dbname", "d"), ("host", "h"), ("password", "p@ss?"), ("user", "a")],
        );
    }

    #[test]
    fn pairs_are_read_as_libpq_reads_them() {
        check(
            r"host = h  user=alice password='s3 \' c\\ret' dbname=",
            &[("dbname", ""), ("host", "h"), ("password", r"s3 ' c\ret"), ("user", "alice")],
        );
        check(r"user=a\ b", &[("user", "a b")]);
        check("", &[]);
    }

    #[test]
    fn what_cannot_be_read_is_refused_without_its_values() {
        refused("s3cret", "expected `key=value` or a URL");
        refused("host=h password='s3cret", "a quote that is not closed");
        refused("mysql://a:s3cret@h/d", "expected `key=value` or a URL");
        refused("postgres://h/d?s3cret=1", "unknown option");
        refused("postgres://h/d?sslmodus=s3", "unknown option, did you mean `sslmode`?");
        refused("postgres://h/d?s3cret", "an option without a value after the `?`");
        refused(
            "postgres://a:s3/cret@h/d",
            "an `@` after a `/`: in user and password write `/` as %2F, `@` as %40, `?` as %3F and `%` as %25",
        );
        refused(
            "postgres://a:s3%cret@h/d",
            "a `%` without two hexadecimal digits in password; write `%` as %25",
        );
        refused("postgres://a:s3%00@h/d", "password has U+0000 in it");
        refused("postgres://a:%ff@h/d", "password is not UTF-8");
        refused("postgres://[::1/d", "a `[` without its `]`");
        refused("host=h sslcrl=x.crl", "sslcrl asks for something that the harness does not have");
        refused("host=h gssencmode=require", "gssencmode asks for something that the harness does not have");
        assert!(!format!("{:?}", parse("postgres://a:s3cret@h/d").unwrap()).contains("s3cret"));
    }
}
