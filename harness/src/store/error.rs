use crate::vocab::Digest;
use std::fmt;
use std::io;
use std::path::PathBuf;
use uuid::Uuid;

/// Why the store could not do what it was asked. [`StoreError::hint`] says what to do about it.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// No usable server binaries on this machine.
    NoPostgres {
        /// Where they were looked for.
        searched: Vec<PathBuf>,
        /// The major version that the data needs; `None` when any from 14 will do.
        needed: Option<u32>,
        /// The major versions that were found and do not fit.
        others: Vec<u32>,
    },
    /// The server binaries could not be fetched.
    Install {
        /// What went wrong.
        problem: String,
    },
    /// A file operation of the private cluster failed.
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The private cluster cannot be used.
    Cluster {
        /// What went wrong.
        problem: String,
        /// The last lines of the server's log.
        log: Vec<String>,
        /// What to do.
        remedy: Option<String>,
    },
    /// The data directory was made by another major version than the chosen binaries.
    Major {
        /// The data directory.
        data: PathBuf,
        /// The version of the data.
        needed: u32,
        /// The version of the binaries.
        found: u32,
    },
    /// The database URL cannot be used.
    Url {
        /// What is wrong with it. Never contains a password.
        problem: String,
    },
    /// The server could not be reached or answered with an error.
    Server {
        /// What was attempted.
        attempt: String,
        /// Where, without the password.
        location: String,
        /// The SQLSTATE, when the server gave one.
        code: Option<String>,
        /// The server's or the system's own words.
        words: String,
        /// What to do.
        remedy: Option<String>,
    },
    /// The connection broke: the statement may or may not have been carried out. Every statement of the store
    /// can be repeated after [`reconnect`](super::Store::reconnect).
    Lost {
        /// What was attempted.
        attempt: String,
        /// Where, without the password.
        location: String,
        /// The server's or the system's own words.
        words: String,
    },
    /// The server is older than the store's SQL.
    TooOld {
        /// Where.
        location: String,
        /// Its version.
        found: String,
    },
    /// The schema is not there yet, or was made by an older harness; only private clusters are brought up by
    /// themselves.
    OlderSchema {
        /// Where, without the password.
        location: String,
        /// The newest migration in the database; 0 when there is none.
        found: i32,
        /// The newest that this build knows.
        known: i32,
    },
    /// The schema was made by a newer harness.
    NewerSchema {
        /// Where, without the password.
        location: String,
        /// The newest migration in the database.
        found: i32,
        /// The newest that this build knows.
        known: i32,
    },
    /// A migration in the database is not the one that this build has under the same number.
    EditedMigration {
        /// Where, without the password.
        location: String,
        /// Its number.
        version: i32,
        /// Its name.
        name: String,
    },
    /// This version of the experiment is registered with another text.
    Conflict {
        /// The experiment.
        experiment: String,
        /// The version.
        version: u32,
        /// The digest in the store.
        stored: Digest,
        /// The digest that was offered.
        given: Digest,
    },
    /// The experiment, or this version of it, is not registered.
    NotRegistered {
        /// The experiment.
        experiment: String,
        /// The version.
        version: u32,
    },
    /// There is no such run.
    UnknownRun(Uuid),
    /// The run has ended, and its samples are sealed.
    Over(Uuid),
    /// The store holds something else under the same key.
    Contradiction {
        /// The first difference.
        difference: String,
    },
    /// A value that the store does not take.
    Invalid {
        /// The field.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Something in the store is not what was written.
    Damaged {
        /// What does not hold.
        problem: String,
    },
}

impl StoreError {
    pub(super) fn io(attempt: &'static str, path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self::Io { attempt, path: path.into(), source: source.into() }
    }

    pub(super) fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), problem: problem.into() }
    }

    pub(super) fn cluster(problem: impl Into<String>) -> Self {
        Self::Cluster { problem: problem.into(), log: Vec::new(), remedy: None }
    }

    /// Whether the connection is gone, so that measuring may go on and the store be asked again later.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }

    /// Whether it is the store that fails, and not what it was given or what it holds: the same may succeed later,
    /// or in another store.
    pub fn is_away(&self) -> bool {
        !matches!(
            self,
            Self::Contradiction { .. }
                | Self::Damaged { .. }
                | Self::Conflict { .. }
                | Self::Invalid { .. }
                | Self::EditedMigration { .. }
                | Self::Over(_)
        )
    }

    /// What to do about it, in a sentence or two.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoPostgres { needed: Some(major), others, .. } if !others.is_empty() => {
                let others = others.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                Some(format!(
                    "there are {others}: install PostgreSQL {major} beside them (apt install postgresql-{major}), and \
                     with it keep the data as they are, or bring them to the newest version: harness db upgrade. The \
                     runs in ledgers/evidence can also be loaded anew: move the old data directory away"
                ))
            }
            Self::NoPostgres { needed, .. } => {
                let version = needed.map_or_else(|| "17".to_owned(), |it| it.to_string());
                let package = needed.map_or_else(|| "postgresql".to_owned(), |it| format!("postgresql-{it}"));
                Some(format!(
                    "install it (apt install {package} | brew install postgresql@{version} | harness db install), \
                     or use a server: --database-url postgres://user@host/database"
                ))
            }
            Self::Install { .. } => Some(
                "install Postgres yourself (apt install postgresql | brew install postgresql@17), \
                 or use a server: --database-url postgres://user@host/database"
                    .to_owned(),
            ),
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    Some("check the owner and the mode of the folder".to_owned())
                }
                io::ErrorKind::StorageFull => Some("free some space; nothing that was stored is lost".to_owned()),
                _ => None,
            },
            Self::Cluster { remedy, .. } | Self::Server { remedy, .. } => remedy.clone(),
            Self::Major { needed, .. } => Some(format!(
                "install PostgreSQL {needed} beside it (apt install postgresql-{needed}), leave the choice of the \
                 binaries to the harness, or bring the data to a newer version: harness db upgrade"
            )),
            Self::Url { .. } => Some(
                "postgres://user@host:5432/database, or host=.. user=.. dbname=..; the password goes into ~/.pgpass or \
                 PGPASSWORD"
                    .to_owned(),
            ),
            Self::Lost { .. } => Some("everything acknowledged is stored; reconnect and repeat".to_owned()),
            Self::TooOld { .. } => Some("use PostgreSQL 14 or newer".to_owned()),
            Self::OlderSchema { .. } => {
                Some("bring it up, as somebody who may create in the database: harness db migrate".to_owned())
            }
            Self::NewerSchema { .. } => Some("upgrade harness".to_owned()),
            Self::EditedMigration { .. } => {
                Some("use the build of harness that made this database, or a new database".to_owned())
            }
            Self::Conflict { .. } => {
                Some("restore the registered text, or amend it: harness register --amend --reason ..".to_owned())
            }
            Self::NotRegistered { experiment, .. } => Some(format!("harness register {experiment}")),
            Self::UnknownRun(_) => Some("harness list shows the runs".to_owned()),
            Self::Over(_) => Some("measure again: a new run is a replication".to_owned()),
            Self::Contradiction { .. } => Some("one of the two was altered; nothing was stored".to_owned()),
            Self::Invalid { .. } | Self::Damaged { .. } => None,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPostgres { searched, needed, .. } => {
                match needed {
                    Some(major) => write!(f, "no PostgreSQL {major} found, which the private cluster needs")?,
                    None => f.write_str("no PostgreSQL (14 or newer) found")?,
                }
                f.write_str("; searched")?;
                for (i, place) in searched.iter().enumerate() {
                    write!(f, "{} `{}`", if i == 0 { "" } else { "," }, place.display())?;
                }
                Ok(())
            }
            Self::Install { problem } => write!(f, "failed to install PostgreSQL: {problem}"),
            Self::Io { attempt, path, .. } => write!(f, "failed to {attempt} `{}`", path.display()),
            Self::Cluster { problem, log, .. } => {
                f.write_str(problem)?;
                for line in log {
                    write!(f, "\n  {line}")?;
                }
                Ok(())
            }
            Self::Major { data, needed, found } => write!(
                f,
                "`{}` holds data of PostgreSQL {needed}, the chosen binaries are of PostgreSQL {found}",
                data.display()
            ),
            Self::Url { problem } => write!(f, "unusable database URL: {problem}"),
            Self::Server { attempt, location, code, words, .. } => {
                write!(f, "failed to {attempt} at {location}: {words}")?;
                code.as_ref().map_or(Ok(()), |it| write!(f, " (SQLSTATE {it})"))
            }
            Self::Lost { attempt, location, words } => {
                write!(f, "lost the connection to {location} while trying to {attempt}: {words}")
            }
            Self::TooOld { location, found } => {
                write!(f, "PostgreSQL {found} at {location} is too old, 14 or newer is needed")
            }
            Self::OlderSchema { location, found: 0, .. } => {
                write!(f, "the database at {location} has no schema of the harness yet")
            }
            Self::OlderSchema { location, found, known } => write!(
                f,
                "the schema {found} of the database at {location} is older than this harness, which needs {known}"
            ),
            Self::NewerSchema { location, found, known } => write!(
                f,
                "the schema {found} of the database at {location} is newer than this harness, which knows {known}"
            ),
            Self::EditedMigration { location, version, name } => write!(
                f,
                "migration {version} (`{name}`) of the database at {location} is not the one that this harness has"
            ),
            Self::Conflict { experiment, version, stored, given } => write!(
                f,
                "version {version} of `{experiment}` is registered as {}, not as {}",
                stored.short(),
                given.short()
            ),
            Self::NotRegistered { experiment, version } => {
                write!(f, "version {version} of `{experiment}` is not registered")
            }
            Self::UnknownRun(run) => write!(f, "no run `{run}` in the store"),
            Self::Over(run) => {
                write!(f, "run {run} is over and its samples are sealed: nothing is added to it any more")
            }
            Self::Contradiction { difference } => {
                write!(f, "the store holds something else under the same key: {difference}")
            }
            Self::Invalid { field, problem } => write!(f, "the store does not take `{field}`: {problem}"),
            Self::Damaged { problem } => write!(f, "damage in the store: {problem}"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
