//! The store: every raw sample, registration and verdict in Postgres, insert-only.
//!
//! A [`Store`] is a server that the user names, or the project's own [private cluster](cluster). Its methods are
//! small transactions that can be repeated: what is stored already is compared, never overwritten, and a
//! difference is an error that names it. A broken connection is [`StoreError::Lost`]; after
//! [`Store::reconnect`] the same call is made again.
//!
//! Instants are kept to the microsecond, which is what the server's type holds; numbers to the bit.

pub mod chain;
pub mod cluster;

mod address;
pub(crate) mod check;
mod error;
mod events;
mod explain;
mod import;
mod invalidations;
mod lists;
mod migrations;
mod options;
mod record;
mod register;
mod roles;
mod runs;
mod samples;
mod series;
mod times;
mod transact;
mod union;
mod verdicts;

pub use error::StoreError;
pub use options::{StoreOptions, password_of};
pub use record::{
    CellArm, Event, ExperimentLine, Git, Invalidation, Link, Registration, Run, RunArm, RunData, RunLine,
    SampleSet, StoredFinding, StoredVerdict, Subject,
};
pub use roles::{ROLES, sql as roles_sql};

pub(crate) use series::{join as join_samples, missing as missing_samples, twice as sample_twice};

use address::Address;
use cluster::Cluster;
use jiff::Timestamp;
use postgres::Client;
use std::time::{Duration, Instant};

/// An open store.
pub struct Store {
    // Closed before the lease is given back: the server has nobody to wait for.
    client: Option<Client>,
    cluster: Option<Cluster>,
    address: Address,
    server_version: String,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("location", &self.location()).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store. A private cluster is made when it is missing, its server started, its schema brought up; a
    /// server that others use must have the schema, see [`migrate`](Self::migrate).
    pub fn open(options: &StoreOptions<'_>) -> Result<Self, StoreError> {
        let mut store = Self::reach(options)?;
        if store.is_private() {
            migrations::apply(&mut store)?;
        } else {
            migrations::check(&mut store)?;
        }
        Ok(store)
    }

    /// Opens the store and brings its schema up to what this build knows. Gives the versions that were missing;
    /// several processes may do so at once.
    pub fn migrate(options: &StoreOptions<'_>) -> Result<(Self, Vec<i32>), StoreError> {
        let mut store = Self::reach(options)?;
        let applied = migrations::apply(&mut store)?;
        Ok((store, applied))
    }

    /// Connects, whatever the schema.
    fn reach(options: &StoreOptions<'_>) -> Result<Self, StoreError> {
        let (cluster, address, mut client) = match &options.url {
            Some(url) => {
                let address = Address::parse(url)?;
                let client = address.reach()?;
                (None, address, client)
            }
            None => {
                let (cluster, client) = Cluster::connect(&options.cluster(), options.notice)?;
                let address = cluster.address();
                (Some(cluster), address, client)
            }
        };
        let server_version = version(&mut client, &address)?;
        Ok(Self { client: Some(client), cluster, address, server_version })
    }

    /// Connects again after [`StoreError::Lost`], starting the private server again if it died.
    pub fn reconnect(&mut self) -> Result<(), StoreError> {
        self.client = None;
        let mut client = match &mut self.cluster {
            Some(cluster) => cluster.connect_again(&|_| {})?,
            None => self.address.reach()?,
        };
        self.server_version = version(&mut client, &self.address)?;
        self.client = Some(client);
        Ok(())
    }

    /// Where the store is, without the password.
    pub fn location(&self) -> String {
        match &self.cluster {
            Some(cluster) => format!("the private cluster in {}", cluster.dir().display()),
            None => self.address.location().to_owned(),
        }
    }

    /// The store's URL for other programs, with the search path that makes `samples` a word. Without the
    /// password: `psql` takes it from its password file or asks.
    pub fn url(&self) -> String {
        self.address.url().to_owned()
    }

    /// The version of the server: `15.18`.
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// Whether the store is the project's private cluster.
    pub fn is_private(&self) -> bool {
        self.cluster.is_some()
    }

    /// Disconnects and gives the lease on the private cluster back, stopping its server when it was the last one
    /// and no other client is connected.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.give_back()
    }

    /// As [`close`](Self::close), after another client that has just left: the server sees it for a moment still.
    pub fn close_after(mut self) -> Result<(), StoreError> {
        let deadline = Instant::now() + Duration::from_millis(100);
        while self.has_other_clients() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.give_back()
    }

    /// Disconnects and lets the private server run.
    pub fn leave(mut self) {
        self.client = None;
        if let Some(cluster) = self.cluster.take() {
            cluster.leave();
        }
    }

    /// Disconnects and stops the private server, whoever is connected, unless another harness uses it. Tells
    /// whether it did.
    pub fn stop(mut self) -> Result<bool, StoreError> {
        self.client = None;
        self.cluster.take().map_or(Ok(false), Cluster::release)
    }

    fn give_back(&mut self) -> Result<(), StoreError> {
        let busy = self.has_other_clients();
        self.client = None;
        match self.cluster.take() {
            Some(cluster) if busy => cluster.leave(),
            Some(cluster) => {
                cluster.release()?;
            }
            None => {}
        }
        Ok(())
    }

    /// Whether somebody else, such as psql or a notebook, is connected.
    fn has_other_clients(&mut self) -> bool {
        // Other harnesses hold leases of their own, and may be about to leave.
        let others = "select exists (select from pg_stat_activity \
                      where backend_type = 'client backend' and application_name <> 'harness')";
        // A server that cannot be asked has nobody to wait for.
        self.cluster.is_some()
            && self
                .client
                .as_mut()
                .is_some_and(|it| it.query_typed_one(others, &[]).is_ok_and(|row| row.get(0)))
    }

    /// The private server analyses its tables when the harness says so: nothing runs by itself.
    pub(crate) fn refresh_statistics(&mut self) {
        if self.is_private()
            && let Some(client) = &mut self.client
        {
            // Only plans depend on it.
            let _ = client.batch_execute(
                "analyze harness.experiments, harness.runs, harness.run_events, harness.sample_sets",
            );
        }
    }

    /// Writes out what the private server would write out later, during a measurement.
    fn settle(&mut self) {
        if self.is_private()
            && let Some(client) = &mut self.client
        {
            // Nothing depends on it but quietness.
            let _ = client.batch_execute("checkpoint");
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // A server that cannot be stopped now is adopted and stopped by the next user.
        let _ = self.give_back();
    }
}

/// The version of a server, if it is young enough.
fn version(client: &mut Client, address: &Address) -> Result<String, StoreError> {
    let asked = client
        .query_typed_one(
            "select current_setting('server_version_num'), split_part(current_setting('server_version'), ' ', 1)",
            &[],
        )
        .and_then(|row| Ok((row.try_get::<_, String>(0)?, row.try_get::<_, String>(1)?)));
    let (number, version) = asked
        .map_err(|error| explain::explain(&error, "ask the server for its version", address.location()))?;
    young_enough(&number, &version, address.location())?;
    Ok(version)
}

/// Refuses a server that is too old, by its `server_version_num`.
fn young_enough(number: &str, version: &str, location: &str) -> Result<(), StoreError> {
    if number.parse::<u32>().is_ok_and(|it| it >= 140_000) {
        return Ok(());
    }
    Err(StoreError::TooOld { location: location.to_owned(), found: version.to_owned() })
}

/// An instant as the store keeps it: whole microseconds, the rest cut off.
pub(crate) fn micros(at: Timestamp) -> Timestamp {
    let nanos = at.as_nanosecond();
    Timestamp::from_nanosecond(nanos - nanos.rem_euclid(1000)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_servers_are_refused_by_their_version() {
        assert!(young_enough("140000", "14.0", "there").is_ok());
        assert!(young_enough("190001", "19.1", "there").is_ok());
        let error = young_enough("120009", "12.9", "postgresql://a@h/d").unwrap_err();
        assert_eq!(
            error.to_string(),
            "PostgreSQL 12.9 at postgresql://a@h/d is too old, 14 or newer is needed"
        );
        assert_eq!(error.hint().as_deref(), Some("use PostgreSQL 14 or newer"));
    }
}
