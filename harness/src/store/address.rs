//! Where the server is: a database URL, understood once and never shown with its password.

use super::StoreError;
use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};
use std::error::Error as _;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long a server may take to take a call, when the URL says nothing else.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no connection.
pub(super) enum Unreached {
    /// The system or the server said so.
    Refused(postgres::Error),
    /// Somebody took the call and said nothing.
    Silent,
}

/// A server's address.
#[derive(Clone)]
pub(super) struct Address {
    config: Config,
    location: String,
}

impl Address {
    /// Understands `postgres://` URLs and `key=value` strings.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        let text = text.trim();
        let without = if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            without_tls_in_url(text)?
        } else {
            without_tls_in_pairs(text)?
        };
        let mut config: Config = without.parse().map_err(|error: postgres::Error| StoreError::Url {
            // The library names the option, never its value.
            problem: error.source().map_or_else(|| error.to_string(), ToString::to_string),
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(StoreError::Url { problem: "no host".to_owned() });
        }
        config.ssl_mode(SslMode::Disable);
        Ok(Self::new(config))
    }

    /// Fills in what every connection of the harness has in common.
    pub(super) fn new(mut config: Config) -> Self {
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_PATIENCE);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(60));
        }
        if config.get_application_name().is_none() {
            config.application_name("harness");
        }
        let location = url_of(&config, "");
        Self { config, location }
    }

    /// Connects. The library's limit, `connect_timeout`, ends when the call is taken; here the whole greeting is
    /// limited, to three times that.
    pub(super) fn connect(&self) -> Result<Client, Unreached> {
        let (answer, answered) = mpsc::channel();
        let config = self.config.clone();
        let patience = 3 * *config.get_connect_timeout().unwrap_or(&CONNECT_PATIENCE);
        thread::spawn(move || {
            // Nobody waits any more for an answer that comes too late.
            let _ = answer.send(config.connect(NoTls));
        });
        match answered.recv_timeout(patience) {
            Ok(result) => result.map_err(Unreached::Refused),
            Err(_) => Err(Unreached::Silent),
        }
    }

    /// The address without its password.
    pub(super) fn location(&self) -> &str {
        &self.location
    }

    /// The address for other programs: with the search path, without the password.
    pub(super) fn url(&self) -> String {
        url_of(&self.config, "options=-csearch_path%3Dharness")
    }
}

fn url_of(config: &Config, option: &str) -> String {
    let mut hosts = Vec::new();
    let mut folder = None;
    let named: Vec<String> = if config.get_hosts().is_empty() {
        config.get_hostaddrs().iter().map(ToString::to_string).collect()
    } else {
        config
            .get_hosts()
            .iter()
            .map(|host| match host {
                Host::Tcp(name) => name.clone(),
                #[cfg(unix)]
                Host::Unix(path) => {
                    folder = Some(encoded(&path.to_string_lossy()));
                    String::new()
                }
            })
            .collect()
    };
    for (i, name) in named.iter().enumerate() {
        let ports = config.get_ports();
        let name = if name.contains(':') { format!("[{name}]") } else { name.clone() };
        hosts.push(match ports.get(i).or(ports.first()) {
            Some(port) if !name.is_empty() && *port != 5432 => format!("{name}:{port}"),
            _ => name,
        });
    }
    let user = config.get_user().map_or_else(String::new, |it| format!("{}@", encoded(it)));
    let database = config.get_dbname().map_or_else(String::new, encoded);
    let mut options = Vec::new();
    if let Some(folder) = folder {
        options.push(format!("host={folder}"));
        if let Some(port) = config.get_ports().first().filter(|it| **it != 5432) {
            options.push(format!("port={port}"));
        }
    }
    if !option.is_empty() {
        options.push(option.to_owned());
    }
    let question = if options.is_empty() { "" } else { "?" };
    format!("postgresql://{user}{}/{database}{question}{}", hosts.join(","), options.join("&"))
}

/// Percent-encodes what is not plain in a URL; a path's slashes stay readable.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte.into());
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn without_tls_in_url(text: &str) -> Result<String, StoreError> {
    let Some((base, query)) = text.split_once('?') else { return Ok(text.to_owned()) };
    let mut kept = Vec::new();
    for pair in query.split('&').filter(|it| !it.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if keeps(key, value)? {
            kept.push(pair);
        }
    }
    Ok(if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) })
}

fn without_tls_in_pairs(text: &str) -> Result<String, StoreError> {
    let mut kept = String::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((key, after)) = rest.split_once('=') else {
            return Err(StoreError::Url { problem: "expected `key=value` or a URL".to_owned() });
        };
        let after = after.trim_start();
        let end = end_of_value(after);
        let value = &after[..end];
        if keeps(key.trim(), value.trim_matches('\''))? {
            kept.push_str(key.trim());
            kept.push('=');
            kept.push_str(value);
            kept.push(' ');
        }
        rest = after[end..].trim_start();
    }
    Ok(kept)
}

/// Where a value ends: at white space, or at the quote that closes it.
fn end_of_value(text: &str) -> usize {
    let quoted = text.starts_with('\'');
    let mut escaped = false;
    for (i, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if quoted && c == '\'' && i > 0 {
            return i + 1;
        } else if !quoted && c.is_whitespace() {
            return i;
        }
    }
    text.len()
}

/// Whether an option is for the client library; refuses what would need TLS.
fn keeps(key: &str, value: &str) -> Result<bool, StoreError> {
    match (key, value) {
        ("sslmode", "disable" | "allow" | "prefer") => Ok(false),
        ("sslmode", "require" | "verify-ca" | "verify-full") => Err(StoreError::Url {
            problem: format!("sslmode={value} needs TLS, and TLS is not built in yet"),
        }),
        ("sslmode", _) => Err(StoreError::Url { problem: "unknown sslmode".to_owned() }),
        ("sslrootcert" | "sslcert" | "sslkey" | "sslcrl" | "sslnegotiation", _) => {
            Err(StoreError::Url { problem: format!("{key} needs TLS, and TLS is not built in yet") })
        }
        _ => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, location: &str) {
        match Address::parse(text) {
            Ok(address) => assert_eq!(address.location(), location),
            Err(error) => assert_eq!(error.to_string(), location),
        }
    }

    #[test]
    fn passwords_are_never_shown() {
        check(
            "postgres://alice:s3cret@db.example:6000/perf?sslmode=prefer",
            "postgresql://alice@db.example:6000/perf",
        );
        check(
            "host=db.example user=alice password='s3 \\' cret' dbname=perf",
            "postgresql://alice@db.example/perf",
        );
        check("postgresql:///perf?host=/run/pg%20x&user=bob", "postgresql://bob@/perf?host=/run/pg%20x");
        check("postgres://[::1]:5433/p", "postgresql://[::1]:5433/p");
        let debug = format!("{:?}", Address::parse("postgres://a:s3cret@h/d").unwrap().config);
        assert!(!debug.contains("s3cret"), "{debug}");
    }

    #[test]
    fn unusable_urls_are_refused_in_words() {
        let refused = |problem: &str| format!("unusable database URL: {problem}");
        check(
            "postgres://h/d?sslmode=require",
            &refused("sslmode=require needs TLS, and TLS is not built in yet"),
        );
        check(
            "host=h sslmode=verify-full",
            &refused("sslmode=verify-full needs TLS, and TLS is not built in yet"),
        );
        check("host=h sslmode=s3cret", &refused("unknown sslmode"));
        check("postgres://h/d?sslrootcert=x", &refused("sslrootcert needs TLS, and TLS is not built in yet"));
        check("s3cret", &refused("expected `key=value` or a URL"));
        check("postgres:///d", &refused("no host"));
        check("postgres://h:port/d", &refused("invalid value for option `port`"));
    }

    #[test]
    fn the_url_for_others_has_the_search_path() {
        let address = Address::parse("postgres://a:b@h/d").unwrap();
        assert_eq!(address.url(), "postgresql://a@h/d?options=-csearch_path%3Dharness");
    }
}
