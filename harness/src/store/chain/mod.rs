//! The chain of an experiment: what was registered, measured, decided and set aside, one link after the other.
//!
//! | link | object | its body is the SHA-256 of |
//! |---|---|---|
//! | registered, amended | version | [the registration](body::registration) |
//! | begun | run | [the run and its arms](body::begun) |
//! | event | run/number | [the event](body::event); of one that ends the run, also every sample |
//! | verdict | run/number | [the verdict and its findings](body::verdict) |
//! | invalidated, restored | run/number | [the event](body::invalidation) |
//!
//! A link is written in the transaction that writes what it seals. What was there before there were chains, and
//! what comes from another store, is sealed when it is found, and the link says so. Whoever owns the database can
//! write a whole new chain; a copy of the old one in version control shows it.

pub mod body;

use super::register::{experiment_id, stored, stored_digest};
use super::transact::Failure;
use super::{Link, Store, StoreError, check, events, invalidations, micros, runs, samples, verdicts};
use crate::vocab::{Digest, RunState, Seal};
use jiff::Timestamp;
use postgres::Transaction;
use postgres::types::Type;
use std::collections::HashSet;
use uuid::Uuid;

impl Store {
    /// The chain of an experiment, in order. Empty if the experiment is not registered.
    pub fn chain(&mut self, experiment: &str) -> Result<Vec<Link>, StoreError> {
        if check::slug(experiment).is_err() {
            return Ok(Vec::new());
        }
        self.transact("read the chain", |transaction| of(transaction, experiment))
    }

    /// Links that seal what is not in the store any more, and records that no link seals, each in a sentence.
    pub fn chain_gaps(&mut self, experiment: &str) -> Result<Vec<String>, StoreError> {
        if check::slug(experiment).is_err() {
            return Ok(Vec::new());
        }
        self.transact("read the chain", |transaction| gaps(transaction, experiment))
    }
}

/// What the first link of an experiment stands on: chains of two experiments share no link.
pub fn start(experiment: &str) -> Digest {
    Digest::of(format!("harness/chain/{experiment}"))
}

impl Link {
    /// The hash of this link on top of `previous`.
    pub fn hash_after(&self, previous: Digest) -> Digest {
        let Self { seq, kind, object, at, found, body, hash: _ } = self;
        let text = format!("{seq}|{kind}|{object}|{}|{found}", at.as_microsecond());
        Digest::of([&previous.0, text.as_bytes(), &body.0].concat())
    }

    /// `link 4 (event 0198.../2)`.
    pub fn name(&self) -> String {
        format!("link {} ({} {})", self.seq, self.kind, self.object)
    }
}

/// The first link of a chain that does not stand where it should, and why; `None` if all do. Linear.
pub fn broken(experiment: &str, links: &[Link]) -> Option<String> {
    let mut previous = start(experiment);
    for (link, seq) in links.iter().zip(1..) {
        if link.seq != seq {
            return Some(format!("{} stands where link {seq} should", link.name()));
        }
        if link.hash_after(previous) != link.hash {
            return Some(format!(
                "{} does not have the hash that follows from the links before it",
                link.name()
            ));
        }
        previous = link.hash;
    }
    None
}

/// The object of a link about an event of a run.
pub fn object(run: Uuid, seq: u32) -> String {
    format!("{run}/{seq}")
}

/// Appends a link, unless that object is sealed already.
pub(super) fn seal(
    transaction: &mut Transaction<'_>,
    experiment: &str,
    kind: Seal,
    object: String,
    at: Timestamp,
    found: bool,
    body: Digest,
) -> Result<(), Failure> {
    let id = experiment_id(experiment);
    lock(transaction, id)?;
    let last = transaction.query_opt(
        "select c.seq, c.hash, exists (select from harness.chain k \
           where k.experiment_id = $1 and k.kind = $2 and k.object = $3) \
         from harness.chain c where c.experiment_id = $1 order by c.seq desc limit 1",
        &[&id, &kind.as_str(), &object],
    )?;
    let (seq, previous) = match last {
        None => (1, start(experiment)),
        Some(row) if row.try_get(2)? => return Ok(()),
        Some(row) => {
            (row.try_get::<_, i32>(0)?.unsigned_abs() + 1, stored_digest(row.try_get(1)?, "a link")?)
        }
    };
    let mut link = Link { seq, kind, object, at: micros(at), found, body, hash: previous };
    link.hash = link.hash_after(previous);
    insert(transaction, id, &link)
}

/// Makes writers of one chain wait for each other. Ends with the transaction.
fn lock(transaction: &mut Transaction<'_>, experiment: Uuid) -> Result<(), Failure> {
    let (_, key) = experiment.as_u64_pair();
    transaction.query_one("select pg_advisory_xact_lock($1)", &[&key.cast_signed()])?;
    Ok(())
}

fn insert(transaction: &mut Transaction<'_>, experiment: Uuid, link: &Link) -> Result<(), Failure> {
    // On servers where the lock is only a word, the key tells: the transaction is tried again.
    transaction.execute(
        "insert into harness.chain (experiment_id, seq, kind, object, at, found, body, hash) \
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            &experiment,
            &check::whole("link.seq", link.seq)?,
            &link.kind.as_str(),
            &link.object,
            &micros(link.at),
            &link.found,
            &link.body.0.as_slice(),
            &link.hash.0.as_slice(),
        ],
    )?;
    Ok(())
}

pub(super) fn of(transaction: &mut Transaction<'_>, experiment: &str) -> Result<Vec<Link>, Failure> {
    let rows = transaction.query_typed(
        "select seq, kind, object, at, found, body, hash from harness.chain where experiment_id = $1 order by seq",
        &[(&experiment_id(experiment), Type::UUID)],
    )?;
    rows.iter()
        .map(|row| {
            Ok(Link {
                seq: row.try_get::<_, i32>(0)?.unsigned_abs(),
                kind: events::word(row, 1)?,
                object: row.try_get(2)?,
                at: row.try_get(3)?,
                found: row.try_get(4)?,
                body: stored_digest(row.try_get(5)?, "a link")?,
                hash: stored_digest(row.try_get(6)?, "a link")?,
            })
        })
        .collect()
}

fn gaps(transaction: &mut Transaction<'_>, experiment: &str) -> Result<Vec<String>, Failure> {
    let rows = transaction.query(
        "with own as (select run_id from harness.runs where experiment_id = $1) \
         select case version when 1 then 'registered' else 'amended' end, version::text \
           from harness.preregistrations where experiment_id = $1 \
         union all select 'begun', run_id::text from own \
         union all select 'event', run_id || '/' || seq from harness.run_events join own using (run_id) \
         union all select 'verdict', run_id || '/' || seq from harness.verdicts join own using (run_id) \
         union all select case when invalid then 'invalidated' else 'restored' end, run_id || '/' || seq \
           from harness.invalidations join own using (run_id)",
        &[&experiment_id(experiment)],
    )?;
    let mut records = Vec::with_capacity(rows.len());
    for row in &rows {
        records.push((events::word::<Seal>(row, 0)?, row.try_get::<_, String>(1)?));
    }
    let links = of(transaction, experiment)?;
    let known: HashSet<(Seal, &str)> = records.iter().map(|(kind, name)| (*kind, name.as_str())).collect();
    let sealed: HashSet<(Seal, &str)> = links.iter().map(|it| (it.kind, it.object.as_str())).collect();
    let gone = links.iter().filter(|it| !known.contains(&(it.kind, it.object.as_str())));
    let mut gaps: Vec<String> =
        gone.map(|it| format!("{} seals what is not there any more", it.name())).collect();
    records.sort();
    let loose = records.iter().filter(|(kind, name)| !sealed.contains(&(*kind, name.as_str())));
    gaps.extend(
        loose.map(|(kind, name)| format!("{kind} {name} has no link: it was put in beside the chain")),
    );
    Ok(gaps)
}

/// Takes over a chain as another store wrote it, as far as it goes on from this store's own. Where the two have
/// parted, this store's goes on by itself, and what is new to it is sealed as found.
pub(super) fn adopt(
    transaction: &mut Transaction<'_>,
    experiment: &str,
    links: &[Link],
) -> Result<(), Failure> {
    if links.is_empty() {
        return Ok(());
    }
    check::slug(experiment)?;
    for link in links {
        check::text("link.object", &link.object)?;
    }
    if let Some(problem) = broken(experiment, links) {
        return Err(StoreError::Damaged { problem: format!("the chain of `{experiment}`: {problem}") }.into());
    }
    let id = experiment_id(experiment);
    transaction.execute(
        "insert into harness.experiments (experiment_id, slug) values ($1, $2) on conflict do nothing",
        &[&id, &experiment],
    )?;
    lock(transaction, id)?;
    let own = of(transaction, experiment)?;
    if links.get(..own.len()) == Some(&own) {
        for link in &links[own.len()..] {
            insert(transaction, id, link)?;
        }
    }
    Ok(())
}

/// The experiment of a run.
pub(super) fn experiment_of(transaction: &mut Transaction<'_>, run: Uuid) -> Result<String, Failure> {
    let row = transaction.query_typed_opt(
        "select e.slug from harness.runs r join harness.experiments e using (experiment_id) where r.run_id = $1",
        &[(&run, Type::UUID)],
    )?;
    row.map_or(Err(StoreError::UnknownRun(run).into()), |row| Ok(row.try_get(0)?))
}

/// The body of an event, read back from the store.
pub(super) fn event_body(
    transaction: &mut Transaction<'_>,
    run: Uuid,
    event: &super::Event,
) -> Result<Digest, Failure> {
    let (cells, sets) = if matches!(event.state, RunState::Done | RunState::Failed) {
        (samples::cells_of(transaction, run)?, samples::of(transaction, run)?)
    } else {
        (Vec::new(), Vec::new())
    };
    Ok(body::event(event, &cells, &sets))
}

/// Seals everything that is in the store.
pub(super) fn find(transaction: &mut Transaction<'_>) -> Result<(), Failure> {
    let experiments: Vec<String> = transaction
        .query("select slug from harness.experiments order by slug collate \"C\"", &[])?
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()?;
    for experiment in experiments {
        let mut links = Vec::new();
        for found in found(transaction, &experiment)? {
            match found {
                Ok(link) => links.push(link),
                // What is damaged already gets no seal, and `verify` names it.
                Err(Failure::Store(StoreError::Damaged { .. })) => {}
                Err(failure) => return Err(failure),
            }
        }
        links.sort_by_key(|(kind, _, at, _)| (*at, *kind));
        for (kind, object, at, body) in links {
            seal(transaction, &experiment, kind, object, at, true, body)?;
        }
    }
    Ok(())
}

type Found = (Seal, String, Timestamp, Digest);

fn found(
    transaction: &mut Transaction<'_>,
    experiment: &str,
) -> Result<Vec<Result<Found, Failure>>, Failure> {
    let id = experiment_id(experiment);
    let mut all = Vec::new();
    let versions = "select version from harness.preregistrations where experiment_id = $1 order by version";
    for row in transaction.query(versions, &[&id])? {
        let version = row.try_get::<_, i32>(0)?.unsigned_abs();
        all.push(match stored(transaction, experiment, version) {
            Ok(it) => it
                .map(|it| {
                    (registered(version), version.to_string(), it.registered_at, body::registration(&it))
                })
                .ok_or(Failure::Again),
            Err(failure) => Err(failure),
        });
    }
    for row in transaction
        .query("select run_id from harness.runs where experiment_id = $1 order by run_id", &[&id])?
    {
        let run: Uuid = row.try_get(0)?;
        let Some(it) = runs::find(transaction, run)? else { continue };
        let arms = runs::arms_of(transaction, run)?;
        all.push(Ok((Seal::Begun, run.to_string(), it.started_at, body::begun(&it, &arms))));
        for event in events::of(transaction, run)? {
            let body = event_body(transaction, run, &event);
            all.push(body.map(|body| (Seal::Event, object(run, event.seq), event.at, body)));
        }
        for verdict in verdicts::of(transaction, run)? {
            let findings = verdicts::findings_of(transaction, run, verdict.seq)?;
            let body = body::verdict(&verdict, &findings);
            all.push(Ok((Seal::Verdict, object(run, verdict.seq), verdict.decided_at, body)));
        }
        for it in invalidations::of(transaction, run)? {
            all.push(Ok((invalidated(it.invalid), object(run, it.seq), it.at, body::invalidation(&it))));
        }
    }
    Ok(all)
}

/// The kind of the link about a version.
pub fn registered(version: u32) -> Seal {
    if version == 1 { Seal::Registered } else { Seal::Amended }
}

/// The kind of the link about an invalidation.
pub fn invalidated(invalid: bool) -> Seal {
    if invalid { Seal::Invalidated } else { Seal::Restored }
}
