//! One small transaction, repeated when the server asks for it.

use super::{Store, StoreError, explain};
use postgres::Transaction;
use postgres::error::SqlState;
use std::thread;
use std::time::Duration;

const ATTEMPTS: u32 = 6;

/// No statement of the store waits for a lock or runs longer than this. Local to the transaction, so that poolers
/// do not hand it on to others.
const LIMITS: &str = "set local lock_timeout = '60s'; set local statement_timeout = '120s'";

/// The same for a whole connection to the private server, which has no pooler: one round trip less a transaction.
pub(super) const OWN_LIMITS: &str = "-c lock_timeout=60s -c statement_timeout=120s";

/// Why a transaction's body did not end well.
pub(super) enum Failure {
    Sql(postgres::Error),
    Store(StoreError),
    /// Another writer was faster; what it wrote is to be looked at in a new transaction.
    Again,
}

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Store {
    /// Runs `body` in a transaction; `attempt` says what for, as in "failed to .. at ..".
    pub(super) fn transact<T>(
        &mut self,
        attempt: &str,
        mut body: impl FnMut(&mut Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let location = self.address.location().to_owned();
        let limits = if self.is_private() { "" } else { LIMITS };
        let Some(client) = &mut self.client else {
            let words = "not connected".to_owned();
            return Err(StoreError::Lost { attempt: attempt.to_owned(), location, words });
        };
        let mut tries = 0;
        loop {
            tries += 1;
            let result = client.transaction().map_err(Failure::Sql).and_then(|mut transaction| {
                if !limits.is_empty() {
                    transaction.batch_execute(limits)?;
                }
                let value = body(&mut transaction)?;
                transaction.commit()?;
                Ok(value)
            });
            match result {
                Ok(value) => return Ok(value),
                Err(Failure::Store(error)) => return Err(error),
                Err(Failure::Sql(error)) if tries < ATTEMPTS && is_passing(&error) => {}
                Err(Failure::Sql(error)) if client.is_closed() => {
                    let words = explain::words(&error);
                    return Err(StoreError::Lost { attempt: attempt.to_owned(), location, words });
                }
                Err(Failure::Sql(error)) => return Err(explain::explain(&error, attempt, &location)),
                Err(Failure::Again) if tries < ATTEMPTS => {}
                Err(Failure::Again) => {
                    return Err(StoreError::Server {
                        attempt: attempt.to_owned(),
                        location,
                        code: None,
                        words: "other writers of the same rows kept getting in the way".to_owned(),
                        remedy: Some("try again".to_owned()),
                    });
                }
            }
            thread::sleep(pause(tries));
        }
    }
}

/// Whether the same transaction may succeed when it is tried again.
fn is_passing(error: &postgres::Error) -> bool {
    error.code().is_some_and(|code| {
        [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::UNIQUE_VIOLATION]
            .contains(code)
    })
}

/// Longer each time, and of a different length in each process.
fn pause(tries: u32) -> Duration {
    let jitter = uuid::Uuid::now_v7().as_bytes()[15];
    Duration::from_millis(u64::from(tries * tries * 2) + u64::from(jitter % 8))
}
