//! What a server's refusal means to the person in front of it.

use super::StoreError;
use postgres::error::{Error, SqlState};
use std::error::Error as _;
use std::io;

/// Turns an error of the client library into one that says what failed, in whose words, and what to do.
pub(super) fn explain(error: &Error, attempt: &str, location: &str) -> StoreError {
    let attempt = attempt.to_owned();
    let location = location.to_owned();
    if is_lost(error) {
        return StoreError::Lost { attempt, location, words: words(error) };
    }
    let code = error.code().map(|it| it.code().to_owned());
    StoreError::Server { attempt, location, code, words: words(error), remedy: remedy(error) }
}

/// The server's own words, else every reason that the library and the system give.
pub(super) fn words(error: &Error) -> String {
    if let Some(server) = error.as_db_error() {
        let mut text = server.message().to_owned();
        for more in [server.detail(), server.hint()].into_iter().flatten() {
            text.push_str("; ");
            text.push_str(more);
        }
        return text;
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(reason) = source {
        let reason_text = reason.to_string();
        if !text.contains(&reason_text) {
            text.push_str(": ");
            text.push_str(&reason_text);
        }
        source = reason.source();
    }
    text
}

/// Whether a connection that was there is gone.
fn is_lost(error: &Error) -> bool {
    if let Some(code) = error.code() {
        return [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN].contains(code)
            || code.code().starts_with("08");
    }
    error.is_closed() || error.to_string().starts_with("error communicating with the server")
}

/// The system's reason, when the failure is one of reaching the server.
pub(super) fn io_kind(error: &Error) -> Option<io::ErrorKind> {
    let mut source = error.source();
    while let Some(reason) = source {
        if let Some(io) = reason.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        source = reason.source();
    }
    None
}

fn remedy(error: &Error) -> Option<String> {
    let text = match error.code() {
        Some(code) => by_code(code, &words(error))?,
        None => by_reason(error)?,
    };
    Some(text.to_owned())
}

fn by_code(code: &SqlState, words: &str) -> Option<&'static str> {
    Some(match code.code() {
        "28P01" => "check the user and the password",
        // A rule that rejects says so of the connection, whatever it wants; a rule that is missing may be there for TLS.
        "28000" if words.contains("no pg_hba.conf entry") && words.contains("no encryption") => {
            "the server accepts only encrypted connections from here: add sslmode=require to the database URL"
        }
        "28000" if words.contains("encryption") => {
            "the server does not accept this user, database or host: its pg_hba.conf decides, ask who runs it"
        }
        "28000" => "check the user in the database URL and the server's pg_hba.conf",
        "55000" if words.contains("not currently accepting connections") => {
            "the database is closed to everybody: name another one, or ask its owner to open it (alter database .. \
             allow_connections true)"
        }
        "3D000" => "create the database first, `createdb <database>`, then its schema: harness db migrate",
        "42P01" | "3F000" => "the schema is missing or incomplete: harness db migrate",
        "42501" => {
            "ask the database's owner for the right: grant harness_reader (to look), harness_writer (to measure) or \
             harness_admin (to migrate) to this user; `harness db roles` makes these roles"
        }
        "25006" => {
            "this server is read-only, perhaps a replica: use the primary's address, or name all hosts and \
             target_session_attrs=read-write"
        }
        "53300" => {
            "the server has no free connection and had none for 5 s: try again, end idle clients, or raise its \
             max_connections, or the limit of this user or database; the harness uses one"
        }
        "53100" => "the server's disk is full: free some space and repeat; nothing that was stored is lost",
        "53200" => "the server is out of memory: try again when it is less busy",
        "57014" => "the server cancelled the statement; try again when it is less busy",
        "55P03" => "another process holds the store's lock for too long; try again",
        "57P03" => "the server is starting or stopping; try again in a moment",
        "57P01" | "57P02" => "the server was stopped; start it and repeat, nothing that was stored is lost",
        "HL001" => "the store is append-only: write an amendment, an event or a later verdict instead",
        _ => return None,
    })
}

fn by_reason(error: &Error) -> Option<&'static str> {
    let text = words(error);
    if text.contains("password missing") {
        return Some("the server wants a password");
    }
    if let Some(remedy) = by_certificate(&text) {
        return Some(remedy);
    }
    match io_kind(error) {
        Some(io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {
            Some("is the server running there? check host and port in the database URL")
        }
        Some(io::ErrorKind::PermissionDenied) => Some("the socket belongs to somebody else"),
        _ if text.contains("lookup address") || text.contains("resolve") => {
            Some("the host's name is unknown: check it in the database URL")
        }
        _ if text.contains("timed out") || text.contains("timeout") => {
            Some("the server does not answer: check host, port and firewall")
        }
        _ => None,
    }
}

/// What is wrong between the two sides' TLS, by the words of the library that does it.
fn by_certificate(text: &str) -> Option<&'static str> {
    let known: &[(&str, &str)] = &[
        (
            "server does not support TLS",
            "the server has no TLS: use sslmode=prefer if the way to it is safe, else have TLS turned on there",
        ),
        (
            "UnknownIssuer",
            "the server's certificate is signed by nobody who is trusted here: name the file of its authority, \
             sslrootcert=root.crt",
        ),
        (
            "CaUsedAsEndEntity",
            "the server's certificate has signed itself: if it is the right one, name it as sslrootcert",
        ),
        (
            "not valid for name",
            "the certificate is for another host: connect by a name that it has (subjectAltName; the common name \
             is not looked at), or use sslmode=verify-ca",
        ),
        ("expired", "the server's certificate is over: have it renewed, and check the clock of this machine"),
        ("not valid yet", "the server's certificate begins later: check the clocks of both machines"),
        (
            "CertificateRequired",
            "the server wants a certificate of the client: sslcert=client.crt and sslkey=client.key",
        ),
        (
            "channel binding",
            "the server cannot bind the password to the connection: use channel_binding=prefer, if that is expected",
        ),
        ("ProtocolVersion", "the two sides have no version of TLS in common; 1.2 and 1.3 are spoken here"),
        ("TLS handshake", "the two sides do not agree on TLS: see the server's log"),
    ];
    known.iter().find(|(word, _)| text.contains(word)).map(|(_, remedy)| *remedy)
}
