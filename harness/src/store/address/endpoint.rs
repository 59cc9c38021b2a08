//! One place of an address, and how it is called.

use super::conninfo::{Kind, WORDS, Words, problem};
use super::passfile::{self, Entry};
use super::patient::{Connector, Over, Plain};
use super::surroundings::Surroundings;
use super::{Mode, Tls};
use crate::store::transact::OWN_LIMITS;
use crate::store::{StoreError, explain};
use postgres::config::{SslMode, SslNegotiation};
use postgres::{Client, Config, NoTls};
use std::error::Error as _;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

pub(super) const PORT: u16 = 5432;
/// How long a server may take to take a call, when the URL says nothing else.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// How long a server may say nothing while it is waited for, when the URL says nothing else; and how long what was sent
/// may stay unacknowledged. Longer than any statement may take, so that a server that lives speaks first.
const SILENCE: Duration = Duration::from_secs(150);
const UNACKNOWLEDGED: Duration = Duration::from_secs(60);
/// Where packaged servers have their sockets.
const SOCKET_FOLDERS: &[&str] = &["/var/run/postgresql", "/run/postgresql", "/tmp"];

/// Why there is no connection.
pub(in crate::store) enum Unreached {
    /// The system or the server said so.
    Refused(postgres::Error),
    /// Somebody took the call and said nothing.
    Silent,
}

/// A host, or the folder of a socket, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) host: String,
    /// The numeric address of the host, when it was given and need not be looked up.
    address: Option<IpAddr>,
    pub(super) port: u16,
}

impl Place {
    pub(super) fn socket(folder: &Path) -> Self {
        Self { host: folder.to_string_lossy().into_owned(), address: None, port: PORT }
    }

    pub(super) fn is_socket(&self) -> bool {
        self.host.starts_with('/')
    }

    /// As a URL has it.
    pub(super) fn shown(&self) -> String {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { super::encoded(&self.host) };
        if self.port == PORT { host } else { format!("{host}:{}", self.port) }
    }

    /// The host as the password file has it: a socket in the usual folder is `localhost`.
    fn in_passfile(&self) -> &str {
        if SOCKET_FOLDERS.contains(&self.host.as_str()) { "localhost" } else { &self.host }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// The places that `words` name: hosts with their ports, one port for all, or the machine's own server.
pub(super) fn places(words: &Words) -> Result<Vec<Place>, StoreError> {
    let list = |name: &str| -> Vec<&str> {
        words
            .get(name)
            .filter(|it| !it.is_empty())
            .map_or_else(Vec::new, |it| it.split(',').map(str::trim).collect())
    };
    let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"));
    let n = hosts.len().max(addresses.len()).max(1);
    if !hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len() {
        return Err(problem(format!("{} hosts and {} hostaddrs", hosts.len(), addresses.len())));
    }
    if ports.len() > 1 && ports.len() != n {
        return Err(problem(format!("{} ports for {n} hosts", ports.len())));
    }
    (0..n)
        .map(|i| {
            let port = match ports.get(i).or(ports.first()).filter(|it| !it.is_empty()) {
                None => PORT,
                Some(text) => text.parse().ok().filter(|it| *it > 0).ok_or_else(|| {
                    problem("a port that is no number from 1 to 65535 (a `:` or `@` in the password is %3A or %40)")
                })?,
            };
            let address = match addresses.get(i).filter(|it| !it.is_empty()) {
                None => None,
                Some(text) => Some(
                    text.parse::<IpAddr>().map_err(|_| problem("a hostaddr that is no numeric address"))?,
                ),
            };
            let host = hosts.get(i).filter(|it| !it.is_empty()).map(|it| (*it).to_owned());
            let host = host.or_else(|| address.map(|it| it.to_string())).unwrap_or_else(|| own_server(port));
            Ok(Place { host, address, port })
        })
        .collect()
}

/// Where the machine's own server is: its socket, else its network address.
fn own_server(port: u16) -> String {
    let has_socket = |it: &&&str| Path::new(it).join(format!(".s.PGSQL.{port}")).exists();
    SOCKET_FOLDERS.iter().find(has_socket).map_or_else(|| "localhost".to_owned(), |it| (*it).to_owned())
}

/// One place, ready to be called.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) place: Place,
    config: Config,
    tls: Option<Tls>,
    silence: Duration,
    /// Where the password came from, or why there is none.
    password: String,
}

impl Endpoint {
    pub(super) fn new(
        place: Place,
        words: &Words,
        own_password: bool,
        tls: Option<&Tls>,
        around: &Surroundings<'_>,
    ) -> Result<Self, StoreError> {
        let mut config = of_library(words)?;
        if place.is_socket() {
            config.host_path(&place.host);
        } else {
            config.host(&place.host);
            place.address.map(|it| config.hostaddr(it));
        }
        config.port(place.port);
        let silence = silence(words)?;
        config.tcp_user_timeout(silence.unwrap_or(UNACKNOWLEDGED));
        let silence = silence.unwrap_or(SILENCE);
        let user = words.get("user").unwrap_or_default();
        let database = words.get("dbname").unwrap_or_default();
        if !user.is_empty() {
            config.user(user);
        }
        if !database.is_empty() {
            config.dbname(database);
        }
        let password = if let Some(password) = words.get("password").filter(|it| !it.is_empty()) {
            config.password(password);
            if own_password { "the database URL" } else { "PGPASSWORD or the service file" }.to_owned()
        } else {
            let named = words.get("passfile").filter(|it| !it.is_empty()).map(PathBuf::from);
            match named.or_else(|| around.at_home(".pgpass")) {
                None => "there is no password file".to_owned(),
                Some(file) => match passfile::find(&file, place.in_passfile(), place.port, database, user) {
                    Entry::Password(password) => {
                        config.password(password);
                        format!("the password file `{}`", file.display())
                    }
                    Entry::Missing => {
                        format!("the password file `{}` has none for this server", file.display())
                    }
                    Entry::Ignored(why) => {
                        format!("the password file `{}` is ignored: {why}", file.display())
                    }
                },
            }
        };
        let tls = tls.filter(|it| !place.is_socket() && it.mode != Mode::Disable).cloned();
        Ok(Self { place, config: with_defaults(config), tls, silence, password })
    }

    /// A server of this machine that asks for no password.
    pub(super) fn plain(place: Place, user: &str, database: &str) -> Self {
        let mut config = Config::new();
        config.host_path(&place.host).port(place.port).user(user).dbname(database).options(OWN_LIMITS);
        Self { place, config: with_defaults(config), tls: None, silence: SILENCE, password: String::new() }
    }

    /// Connects, with as much encryption as was asked for.
    pub(super) fn connect(&self) -> Result<Client, Unreached> {
        let Some(tls) = &self.tls else { return self.call(None, SslMode::Disable) };
        let encrypted = |mode| self.call(Some(tls), mode);
        match tls.mode {
            Mode::Disable => self.call(None, SslMode::Disable),
            Mode::Allow => self.call(None, SslMode::Disable).or_else(|first| {
                if is_about_encryption(&first) {
                    encrypted(SslMode::Require).map_err(|_| first)
                } else {
                    Err(first)
                }
            }),
            Mode::Prefer => encrypted(SslMode::Require).or_else(|first| {
                if has_no_tls(&first) {
                    self.call(None, SslMode::Disable)
                } else if is_about_encryption(&first) {
                    self.call(None, SslMode::Disable).map_err(|_| first)
                } else {
                    Err(first)
                }
            }),
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => encrypted(SslMode::Require),
        }
    }

    /// The library's limit, `connect_timeout`, ends when the call is taken; here the whole greeting is limited, to
    /// three times that.
    fn call(&self, tls: Option<&Tls>, mode: SslMode) -> Result<Client, Unreached> {
        let (answer, answered) = mpsc::channel();
        let mut config = self.config.clone();
        config.ssl_mode(mode);
        let patience = 3 * *config.get_connect_timeout().unwrap_or(&CONNECT_PATIENCE);
        let connector = tls.map(|it| it.connector.clone());
        let silence = self.silence;
        // A server of this machine does not fall silent on the way.
        if tls.is_none() && !self.place.is_socket() {
            config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
        }
        let of_machine = self.place.is_socket();
        thread::spawn(move || {
            // Nobody waits any more for an answer that comes too late.
            let _ = answer.send(match connector {
                Some(inner) => config.connect(Connector { inner: Over(inner), silence }),
                None if of_machine => config.connect(NoTls),
                None => config.connect(Connector { inner: Plain, silence }),
            });
        });
        match answered.recv_timeout(patience) {
            Ok(result) => result.map_err(Unreached::Refused),
            Err(_) => Err(Unreached::Silent),
        }
    }

    /// Says why this place could not be used.
    pub(super) fn explain(&self, unreached: Unreached, location: &str) -> StoreError {
        let error = match unreached {
            Unreached::Refused(error) => error,
            Unreached::Silent => {
                return StoreError::Server {
                    attempt: "connect".to_owned(),
                    location: location.to_owned(),
                    code: None,
                    words: "no answer to the greeting".to_owned(),
                    remedy: Some(
                        "check that a Postgres server listens there, and that it is not stopped".to_owned(),
                    ),
                };
            }
        };
        match explain::explain(&error, "connect", location) {
            // There was no connection yet that could have been lost.
            StoreError::Lost { attempt, location, words } => {
                StoreError::Server { attempt, location, code: None, words, remedy: None }
            }
            StoreError::Server { attempt, location, code, words, remedy } => {
                let remedy = self.password_remedy(code.as_deref(), &words).or(remedy);
                StoreError::Server { attempt, location, code, words, remedy }
            }
            other => other,
        }
    }

    fn password_remedy(&self, code: Option<&str>, words: &str) -> Option<String> {
        if code == Some("28P01") {
            let user = self.config.get_user().unwrap_or("the default");
            return Some(format!(
                "the server does not know user `{user}` with this password, which came from {}; check both",
                self.password
            ));
        }
        (code.is_none() && words.contains("password missing")).then(|| {
            format!(
                "the server wants a password, and {}: put it into ~/.pgpass (mode 0600), PGPASSWORD or \
                 HARNESS_DATABASE_URL",
                self.password
            )
        })
    }
}

fn has_no_tls(unreached: &Unreached) -> bool {
    matches!(unreached, Unreached::Refused(error) if explain::words(error).contains("server does not support TLS"))
}

/// Whether it could go better with, or without, encryption.
fn is_about_encryption(unreached: &Unreached) -> bool {
    let Unreached::Refused(error) = unreached else { return false };
    match error.code() {
        Some(code) => code.code() == "28000",
        None => error.to_string().contains("TLS"),
    }
}

/// `tcp_user_timeout`, in milliseconds as libpq has it; nothing and 0 say nothing.
fn silence(words: &Words) -> Result<Option<Duration>, StoreError> {
    match words.get("tcp_user_timeout").filter(|it| !it.is_empty()).map(str::parse) {
        None | Some(Ok(0)) => Ok(None),
        Some(Ok(milliseconds)) => Ok(Some(Duration::from_millis(milliseconds))),
        Some(Err(_)) => Err(problem("a tcp_user_timeout that is no whole number of milliseconds")),
    }
}

/// What the client library itself understands of `words`.
fn of_library(words: &Words) -> Result<Config, StoreError> {
    let mut text = String::new();
    for (name, _, kind) in WORDS {
        if let (Kind::Library(known), Some(value)) = (kind, words.get(name).filter(|it| !it.is_empty())) {
            let value = value.replace('\\', r"\\").replace('\'', r"\'");
            text.push_str(&format!("{known}='{value}' "));
        }
    }
    text.parse().map_err(|error: postgres::Error| {
        // The library names the option, never its value.
        problem(error.source().map_or_else(|| error.to_string(), ToString::to_string))
    })
}

/// Fills in what every connection of the harness has in common.
fn with_defaults(mut config: Config) -> Config {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_PATIENCE);
    }
    if config.get_application_name().is_none() {
        config.application_name("harness");
    }
    config
}

#[cfg(test)]
impl Endpoint {
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn tls_mode(&self) -> Option<Mode> {
        self.tls.as_ref().map(|it| it.mode)
    }
}
