//! Registrations: written once, before anything is measured.

use super::transact::Failure;
use super::{Git, Registration, Store, StoreError, chain, check, micros};
use crate::vocab::{Digest, Role};
use jiff::Timestamp;
use postgres::types::Type;
use postgres::{Row, Transaction};
use serde_json::Value;
use uuid::{Builder, Uuid};

impl Store {
    /// Stores a version of a registration. The same one again is no change; another text is a
    /// [`StoreError::Conflict`].
    pub fn register(&mut self, registration: &Registration) -> Result<(), StoreError> {
        check::registration(registration)?;
        let arms = arms(&registration.doc)?;
        self.transact("register the experiment", |transaction| {
            insert(transaction, registration, &arms, false)
        })
    }

    /// All versions of an experiment's registration, in order. Empty when it is not registered.
    pub fn registrations(&mut self, experiment: &str) -> Result<Vec<Registration>, StoreError> {
        if check::slug(experiment).is_err() {
            return Ok(Vec::new());
        }
        self.transact("read the registrations", |transaction| {
            let rows = transaction.query_typed(
                &format!("{SELECT} where e.slug = $1 order by p.version"),
                &[(&experiment, Type::TEXT)],
            )?;
            rows.iter().map(read).collect()
        })
    }
}

const SELECT: &str = "select e.slug, p.title, p.version, p.canonical, p.doc, p.sha256, p.git_commit, p.git_dirty, \
                      p.registered_at, p.reason \
                      from harness.preregistrations p join harness.experiments e using (experiment_id)";

/// The id of an experiment in every store: UUIDv8, from the SHA-256 of its name.
///
/// Two stores that never heard of each other give it the same one, so what one exports the other imports
/// without renaming anything.
pub(super) fn experiment_id(slug: &str) -> Uuid {
    let digest = Digest::of(format!("harness/experiment/{slug}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.0[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

/// An arm as the registration has it.
pub(super) struct Arm {
    name: String,
    role: Role,
    spec: Value,
}

/// The arms in a registration's document: `{"arms": {name: {"role": ..}}}`, or a list of `{"name": .., "role": ..}`.
pub(super) fn arms(doc: &Value) -> Result<Vec<Arm>, StoreError> {
    let named: Vec<(&str, &Value)> = match doc.get("arms") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(arms)) => arms.iter().map(|(name, spec)| (name.as_str(), spec)).collect(),
        Some(Value::Array(arms)) => {
            arms.iter().map(|spec| (spec["name"].as_str().unwrap_or_default(), spec)).collect()
        }
        Some(_) => return Err(StoreError::invalid("doc.arms", "it is neither a table nor a list")),
    };
    named
        .into_iter()
        .map(|(name, spec)| {
            let role = spec["role"].as_str().and_then(|it| it.parse().ok()).ok_or_else(|| {
                StoreError::invalid(
                    format!("doc.arms.{name}.role"),
                    "it is none of control, treatment, sham, null",
                )
            })?;
            if name.is_empty() {
                return Err(StoreError::invalid("doc.arms", "an arm has no name"));
            }
            Ok(Arm { name: name.to_owned(), role, spec: spec.clone() })
        })
        .collect()
}

pub(super) fn insert(
    transaction: &mut Transaction<'_>,
    it: &Registration,
    arms: &[Arm],
    found: bool,
) -> Result<(), Failure> {
    let id = experiment_id(&it.experiment);
    let version = check::whole("version", it.version)?;
    transaction.execute(
        "insert into harness.experiments (experiment_id, slug) values ($1, $2) on conflict do nothing",
        &[&id, &it.experiment],
    )?;
    let inserted = transaction.execute(
        "insert into harness.preregistrations (experiment_id, version, title, canonical, doc, sha256, git_commit, \
         git_dirty, registered_at, reason) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing",
        &[
            &id,
            &version,
            &it.title,
            &it.canonical,
            &it.doc,
            &it.digest.0.as_slice(),
            &it.git.commit,
            &it.git.dirty,
            &micros(it.registered_at),
            &it.reason,
        ],
    )?;
    if inserted == 0 {
        return same_as_stored(transaction, it);
    }
    for arm in arms {
        transaction.execute(
            "insert into harness.arms (experiment_id, version, arm, role, spec) values ($1, $2, $3, $4, $5)",
            &[&id, &version, &arm.name, &arm.role.as_str(), &arm.spec],
        )?;
    }
    let (kind, body) = (chain::registered(it.version), chain::body::registration(it));
    chain::seal(transaction, &it.experiment, kind, version.to_string(), it.registered_at, found, body)
}

/// The text is what was frozen; when and where it was frozen first stands.
fn same_as_stored(transaction: &mut Transaction<'_>, it: &Registration) -> Result<(), Failure> {
    match digest(transaction, &it.experiment, it.version)? {
        Some(stored) if stored == it.digest => Ok(()),
        Some(stored) => Err(StoreError::Conflict {
            experiment: it.experiment.clone(),
            version: it.version,
            stored,
            given: it.digest,
        }
        .into()),
        None => Err(Failure::Again),
    }
}

/// The digest of a registered version.
pub(super) fn digest(
    transaction: &mut Transaction<'_>,
    experiment: &str,
    version: u32,
) -> Result<Option<Digest>, Failure> {
    let row = transaction.query_opt(
        "select sha256 from harness.preregistrations where experiment_id = $1 and version = $2",
        &[&experiment_id(experiment), &check::whole("version", version)?],
    )?;
    row.map(|row| Ok(stored_digest(row.try_get(0)?, "a registration")?)).transpose()
}

/// A registered version, for comparison.
pub(super) fn stored(
    transaction: &mut Transaction<'_>,
    experiment: &str,
    version: u32,
) -> Result<Option<Registration>, Failure> {
    let query = format!("{SELECT} where p.experiment_id = $1 and p.version = $2");
    let id = experiment_id(experiment);
    let row = transaction.query_opt(&query, &[&id, &check::whole("version", version)?])?;
    row.as_ref().map(read).transpose()
}

pub(super) fn stored_digest(bytes: &[u8], of: &str) -> Result<Digest, StoreError> {
    bytes
        .try_into()
        .map(Digest)
        .map_err(|_| StoreError::Damaged { problem: format!("the digest of {of} has {} bytes", bytes.len()) })
}

fn read(row: &Row) -> Result<Registration, Failure> {
    let canonical: String = row.try_get(3)?;
    let digest = stored_digest(row.try_get(5)?, "a registration")?;
    let experiment: String = row.try_get(0)?;
    let version = row.try_get::<_, i32>(2)?.unsigned_abs();
    if Digest::of(&canonical) != digest {
        let problem =
            format!("version {version} of `{experiment}` does not have its digest {}", digest.short());
        return Err(StoreError::Damaged { problem }.into());
    }
    Ok(Registration {
        experiment,
        title: row.try_get(1)?,
        version,
        canonical,
        doc: row.try_get(4)?,
        digest,
        git: Git { commit: row.try_get(6)?, dirty: row.try_get(7)? },
        registered_at: row.try_get::<_, Timestamp>(8)?,
        reason: row.try_get(9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_experiment_has_the_same_id_everywhere() {
        let id = experiment_id("exp-1-lazy");
        assert_eq!(id, experiment_id("exp-1-lazy"));
        assert_ne!(id, experiment_id("exp-2-lazy"));
        assert_eq!(id.get_version_num(), 8);
    }

    #[test]
    fn arms_are_read_from_a_table_or_a_list() {
        let table = json!({"arms": {"a": {"role": "control"}, "b": {"role": "sham"}}});
        let list = json!({"arms": [{"name": "a", "role": "control"}, {"name": "b", "role": "sham"}]});
        for doc in [table, list] {
            let read: Vec<_> = arms(&doc).unwrap().into_iter().map(|it| (it.name, it.role)).collect();
            assert_eq!(read, [("a".to_owned(), Role::Control), ("b".to_owned(), Role::Sham)]);
        }
        assert!(arms(&json!({"arms": {"a": {"role": "boss"}}})).is_err());
        assert!(arms(&json!({"arms": 1})).is_err());
        assert!(arms(&json!({})).unwrap().is_empty());
    }
}
