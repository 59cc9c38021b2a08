//! Where the server is: a database URL, understood once and never shown with its password.
//!
//! What the URL leaves open is taken as libpq takes it: from a service file, from `PG*` variables, from the
//! password file, from libpq's defaults; in this order.

mod attrs;
mod conninfo;
mod endpoint;
mod passfile;
mod patient;
mod surroundings;
mod tls;

pub(super) use endpoint::Unreached;

use super::StoreError;
use attrs::Attrs;
use conninfo::Words;
use endpoint::{Endpoint, Place};
use postgres::Client;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use surroundings::Surroundings;
use tls::{Mode, Tls};

/// How long a server that has no free connection, or is just starting, is asked again.
const BUSY_PATIENCE: Duration = Duration::from_secs(5);
/// What is passed on to other programs, when it was said.
const PASSED_ON: &[&str] = &[
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "channel_binding",
    "sslnegotiation",
    "target_session_attrs",
];

/// A server's address: one place or several, the first of which that suits is used.
#[derive(Clone)]
pub(super) struct Address {
    endpoints: Vec<Endpoint>,
    attrs: Attrs,
    location: String,
    url: String,
}

impl Address {
    /// Understands `postgres://` URLs and `key=value` strings, in the surroundings of this process.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        let variable = |name: &str| std::env::var(name).ok();
        let account = || whoami::username().ok();
        Self::parse_in(text, &Surroundings { variable: &variable, account: &account })
    }

    fn parse_in(text: &str, around: &Surroundings<'_>) -> Result<Self, StoreError> {
        let mut words = conninfo::parse(text)?;
        let own_password = !words.lacks("password");
        around.fill(&mut words)?;
        let places = endpoint::places(&words)?;
        let attrs = Attrs::parse(words.get("target_session_attrs"))?;
        let tls = if places.iter().all(Place::is_socket) { None } else { Some(Tls::new(&words, around)?) };
        let location = url_of(&places, &words, &[]);
        let mut options = vec![("options", searching(words.get("options")))];
        for name in PASSED_ON {
            options.extend(words.get(name).filter(|it| !it.is_empty()).map(|it| (*name, it.to_owned())));
        }
        let url = url_of(&places, &words, &options);
        let endpoints = places
            .into_iter()
            .map(|place| Endpoint::new(place, &words, own_password, tls.as_ref(), around))
            .collect::<Result<_, _>>()?;
        Ok(Self { endpoints, attrs, location, url })
    }

    /// A server of this machine that asks for no password.
    pub(super) fn of_socket(folder: &Path, user: &str, database: &str) -> Self {
        let place = Place::socket(folder);
        let mut words = Words::default();
        let named = [("user", user), ("dbname", database)]
            .into_iter()
            .try_for_each(|(name, value)| words.put(name, value.to_owned()));
        debug_assert!(named.is_ok(), "both are constants");
        let places = [place.clone()];
        let location = url_of(&places, &words, &[]);
        let url = url_of(&places, &words, &[("options", searching(None))]);
        Self { endpoints: vec![Endpoint::plain(place, user, database)], attrs: Attrs::Any, location, url }
    }

    /// Connects to the first place, once.
    pub(super) fn connect(&self) -> Result<Client, Unreached> {
        self.endpoints.first().map_or(Err(Unreached::Silent), Endpoint::connect)
    }

    /// Connects to the first place that can be reached and suits, asking again for a while where the server is busy.
    pub(super) fn reach(&self) -> Result<Client, StoreError> {
        let deadline = Instant::now() + BUSY_PATIENCE;
        let mut pause = Duration::from_millis(50);
        loop {
            match self.reach_once() {
                Err(StoreError::Server { code: Some(code), .. })
                    if ["53300", "57P03"].contains(&code.as_str()) && Instant::now() + pause < deadline => {}
                result => return result,
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    fn reach_once(&self) -> Result<Client, StoreError> {
        let mut reasons = Vec::new();
        let mut found = None;
        for attrs in self.attrs.in_turn() {
            for endpoint in &self.endpoints {
                let result = endpoint
                    .connect()
                    .map_err(|unreached| endpoint.explain(unreached, &self.location))
                    .and_then(|client| attrs.accept(client, endpoint, &self.location));
                match result {
                    Ok(client) => return Ok(client),
                    // The server is there and does not let one in: the others are for when it is not there.
                    Err(error) if ends_the_search(&error) => return Err(error),
                    Err(error) => {
                        reasons.push(format!("{}: {}", endpoint.place, words_of(&error)));
                        found = Some(error);
                    }
                }
            }
        }
        let error = found.unwrap_or_else(|| conninfo::problem("no host"));
        match error {
            StoreError::Server { attempt, location, code, remedy, .. } if self.endpoints.len() > 1 => {
                Err(StoreError::Server { attempt, location, code, words: reasons.join("; "), remedy })
            }
            other => Err(other),
        }
    }

    /// The address without its password.
    pub(super) fn location(&self) -> &str {
        &self.location
    }

    /// The address for other programs: with the search path, without the password.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

fn ends_the_search(error: &StoreError) -> bool {
    matches!(error, StoreError::Server { code: Some(code), .. } if code.starts_with("28") || code == "3D000")
}

fn words_of(error: &StoreError) -> String {
    match error {
        StoreError::Server { words, .. } => words.clone(),
        other => other.to_string(),
    }
}

/// The user's options, and the search path that makes `samples` a word.
fn searching(options: Option<&str>) -> String {
    let own = options.unwrap_or_default();
    let gap = if own.is_empty() { "" } else { " " };
    format!("{own}{gap}-csearch_path=harness")
}

fn url_of(places: &[Place], words: &Words, options: &[(&str, String)]) -> String {
    let user = words.get("user").map_or_else(String::new, |it| format!("{}@", encoded(it)));
    let database = words.get("dbname").map_or_else(String::new, encoded);
    let mut pairs: Vec<String> = Vec::new();
    let hosts = if places.iter().all(|it| !it.is_socket()) {
        let of = |it: &Place| it.shown();
        places.iter().map(of).collect::<Vec<_>>().join(",")
    } else {
        pairs.push(format!(
            "host={}",
            places.iter().map(|it| encoded(&it.host)).collect::<Vec<_>>().join(",")
        ));
        if places.iter().any(|it| it.port != endpoint::PORT) {
            pairs.push(format!(
                "port={}",
                places.iter().map(|it| it.port.to_string()).collect::<Vec<_>>().join(",")
            ));
        }
        String::new()
    };
    pairs.extend(options.iter().map(|(name, value)| format!("{name}={}", encoded(value))));
    let question = if pairs.is_empty() { "" } else { "?" };
    format!("postgresql://{user}{hosts}/{database}{question}{}", pairs.join("&"))
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

/// A password in a connection string itself, which everybody may see in the list of processes when it was typed.
pub(super) fn own_password(text: &str) -> Option<String> {
    conninfo::parse(text).ok()?.get("password").filter(|it| !it.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests;
