//! Samples: chunks of consecutive blocks in arrays, all arms and metrics of a block in one transaction.

use super::events::exists;
use super::runs::differ;
use super::transact::Failure;
use super::{CellArm, SampleSet, Store, StoreError, check, series};
use crate::vocab::Digest;
use postgres::Transaction;
use postgres::types::{ToSql, Type};
use uuid::Uuid;

impl Store {
    /// Appends samples to a run, and what its arms said of themselves, in one transaction.
    ///
    /// Blocks that are stored already are compared to the bit, whatever chunks they came in; neighbours are joined, long sets are cut.
    pub fn append_block(
        &mut self,
        run: Uuid,
        sets: &[SampleSet],
        cells: &[CellArm],
    ) -> Result<(), StoreError> {
        sets.iter().try_for_each(check::sample_set)?;
        cells.iter().try_for_each(check::cell_arm)?;
        // Blocks of their own become one row.
        let sets = series::join(sets.to_vec());
        self.transact("store the samples", |transaction| insert(transaction, run, &sets, cells))
    }
}

pub(super) fn insert(
    transaction: &mut Transaction<'_>,
    run: Uuid,
    sets: &[SampleSet],
    cells: &[CellArm],
) -> Result<(), Failure> {
    lock(transaction, run)?;
    insert_cells(transaction, run, cells)?;
    let stored = overlapping(transaction, run, sets)?;
    let rows = series::cut(series::missing(&stored, sets)?);
    if rows.is_empty() {
        return if sets.is_empty() && cells.is_empty() { exists(transaction, run) } else { Ok(()) };
    }
    match insert_rows(transaction, run, &rows) {
        // Somebody else stores the same run: what it stored is compared in the next attempt.
        Ok(inserted) if inserted < rows.len() as u64 => Err(Failure::Again),
        Ok(_) => Ok(()),
        Err(error) => Err(missing_parent(error, run, &rows)),
    }
}

/// Makes writers of one run wait for each other: chunks of different sizes have different keys, and only looking
/// first keeps a block from being stored twice. Needs no right and ends with the transaction.
fn lock(transaction: &mut Transaction<'_>, run: Uuid) -> Result<(), Failure> {
    let (_, key) = run.as_u64_pair();
    transaction
        .query_typed("select pg_advisory_xact_lock($1)", &[(&key.cast_signed(), Type::INT8)])
        .map(drop)
        .map_err(Failure::Sql)
}

/// A foreign key that does not hold is a run or an arm that was not begun.
fn missing_parent(error: postgres::Error, run: Uuid, rows: &[SampleSet]) -> Failure {
    if error.code() != Some(&postgres::error::SqlState::FOREIGN_KEY_VIOLATION) {
        return error.into();
    }
    let arms: std::collections::BTreeSet<&str> = rows.iter().map(|it| it.arm.as_str()).collect();
    let arms = arms.into_iter().collect::<Vec<_>>().join(", ");
    StoreError::invalid("arm", format!("run {run} was not begun with each of {arms}")).into()
}

/// One column of the sets, as an array.
fn column<'a, T>(sets: &'a [SampleSet], of: impl Fn(&'a SampleSet) -> T) -> Vec<T> {
    sets.iter().map(of).collect()
}

/// The stored chunks that have a block in common with one of the given ones.
fn overlapping(
    transaction: &mut Transaction<'_>,
    run: Uuid,
    sets: &[SampleSet],
) -> Result<Vec<SampleSet>, Failure> {
    let first = column(sets, |it| it.first_block.cast_signed());
    let end = column(sets, |it| i64::from(it.first_block) + it.values.len() as i64);
    let rows = transaction.query_typed(
        "select distinct on (s.metric, s.cell, s.arm, s.warmup, s.first_block) \
         s.metric, s.cell, s.arm, s.warmup, s.first_block, s.unit, s.\"values\", s.at_ns, s.sha256 \
         from unnest($2::text[], $3::text[], $4::text[], $5::bool[], $6::int[], $7::bigint[]) \
           as k(metric, cell, arm, warmup, first_block, past) \
         join harness.sample_sets s on s.run_id = $1 and s.metric = k.metric and s.cell = k.cell \
           and s.arm = k.arm and s.warmup = k.warmup and s.first_block < k.past \
           and s.first_block + s.n > k.first_block",
        &[
            (&run, Type::UUID),
            (&column(sets, |it| it.metric.as_str()), Type::TEXT_ARRAY),
            (&column(sets, |it| it.cell.as_str()), Type::TEXT_ARRAY),
            (&column(sets, |it| it.arm.as_str()), Type::TEXT_ARRAY),
            (&column(sets, |it| it.warmup), Type::BOOL_ARRAY),
            (&first, Type::INT4_ARRAY),
            (&end, Type::INT8_ARRAY),
        ],
    )?;
    rows.iter().map(read).collect()
}

/// Stores rows in one statement: every round trip counts between two blocks. The samples of all rows travel in
/// one array, of which the server gives each row its part.
fn insert_rows(
    transaction: &mut Transaction<'_>,
    run: Uuid,
    rows: &[SampleSet],
) -> Result<u64, postgres::Error> {
    let mut values = Vec::new();
    let mut times = Vec::new();
    let mut value_at = Vec::with_capacity(rows.len());
    let mut time_at: Vec<Option<i32>> = Vec::with_capacity(rows.len());
    for row in rows {
        value_at.push(values.len() as i32);
        time_at.push((!row.at_ns.is_empty()).then_some(times.len() as i32));
        values.extend_from_slice(&row.values);
        times.extend_from_slice(&row.at_ns);
    }
    let digests = column(rows, |it| Digest::of_samples(&it.values).0.to_vec());
    let parameters: &[(&(dyn ToSql + Sync), Type)] = &[
        (&run, Type::UUID),
        (&column(rows, |it| it.metric.as_str()), Type::TEXT_ARRAY),
        (&column(rows, |it| it.cell.as_str()), Type::TEXT_ARRAY),
        (&column(rows, |it| it.arm.as_str()), Type::TEXT_ARRAY),
        (&column(rows, |it| it.warmup), Type::BOOL_ARRAY),
        (&column(rows, |it| it.first_block.cast_signed()), Type::INT4_ARRAY),
        (&column(rows, |it| it.unit.as_str()), Type::TEXT_ARRAY),
        (&column(rows, |it| it.values.len() as i32), Type::INT4_ARRAY),
        (&value_at, Type::INT4_ARRAY),
        (&time_at, Type::INT4_ARRAY),
        (&digests, Type::BYTEA_ARRAY),
        (&values, Type::FLOAT8_ARRAY),
        (&times, Type::INT8_ARRAY),
    ];
    transaction.execute_typed(
        "insert into harness.sample_sets \
           (run_id, metric, cell, arm, warmup, first_block, unit, n, \"values\", at_ns, sha256) \
         select $1, k.metric, k.cell, k.arm, k.warmup, k.first_block, k.unit, k.n, \
           ($12::float8[])[k.value_at + 1 : k.value_at + k.n], \
           case when k.time_at is not null then ($13::bigint[])[k.time_at + 1 : k.time_at + k.n] end, k.sha256 \
         from unnest($2::text[], $3::text[], $4::text[], $5::bool[], $6::int[], $7::text[], $8::int[], $9::int[], \
           $10::int[], $11::bytea[]) \
           as k(metric, cell, arm, warmup, first_block, unit, n, value_at, time_at, sha256) \
         on conflict do nothing",
        parameters,
    )
}

fn insert_cells(transaction: &mut Transaction<'_>, run: Uuid, cells: &[CellArm]) -> Result<(), Failure> {
    for it in cells {
        let inserted = transaction.execute(
            "insert into harness.cell_arms (run_id, cell, arm, effective, result) \
             select $1, $2, $3, $4, $5 where exists (select 1 from harness.run_arms where run_id = $1 and arm = $3) \
             on conflict do nothing",
            &[&run, &it.cell, &it.arm, &it.effective, &it.result],
        )?;
        if inserted == 0 {
            let stored = cells_of(transaction, run)?;
            let stored = stored.iter().find(|that| that.cell == it.cell && that.arm == it.arm);
            let Some(stored) = stored else {
                exists(transaction, run)?;
                return Err(StoreError::invalid("arm", format!("run {run} has no arm {}", it.arm)).into());
            };
            differ(&format!("what arm {} said in cell `{}` of run {run}", it.arm, it.cell), stored, it)?;
        }
    }
    Ok(())
}

pub(super) fn cells_of(transaction: &mut Transaction<'_>, run: Uuid) -> Result<Vec<CellArm>, Failure> {
    let rows = transaction.query(
        "select cell, arm, effective, result from harness.cell_arms where run_id = $1 \
         order by cell collate \"C\", arm collate \"C\"",
        &[&run],
    )?;
    rows.iter()
        .map(|row| {
            Ok(CellArm {
                cell: row.try_get(0)?,
                arm: row.try_get(1)?,
                effective: row.try_get(2)?,
                result: row.try_get(3)?,
            })
        })
        .collect()
}

/// All samples of a run, as few sets as there are gaps.
pub(super) fn of(transaction: &mut Transaction<'_>, run: Uuid) -> Result<Vec<SampleSet>, Failure> {
    let rows = transaction.query(
        "select metric, cell, arm, warmup, first_block, unit, \"values\", at_ns, sha256 \
         from harness.sample_sets where run_id = $1",
        &[&run],
    )?;
    let sets = series::join(rows.iter().map(read).collect::<Result<_, Failure>>()?);
    match series::twice(&sets) {
        Some(place) => Err(StoreError::Damaged { problem: format!("{place} is stored twice") }.into()),
        None => Ok(sets),
    }
}

/// A chunk from its row. Its digest must hold: a changed bit is found here.
fn read(row: &postgres::Row) -> Result<SampleSet, Failure> {
    let set = SampleSet {
        metric: row.try_get(0)?,
        cell: row.try_get(1)?,
        arm: row.try_get(2)?,
        warmup: row.try_get(3)?,
        first_block: row.try_get::<_, i32>(4)?.unsigned_abs(),
        unit: row.try_get(5)?,
        values: row.try_get(6)?,
        at_ns: row.try_get::<_, Option<Vec<i64>>>(7)?.unwrap_or_default(),
    };
    let digest: &[u8] = row.try_get(8)?;
    if Digest::of_samples(&set.values).0[..] != *digest {
        let problem = format!(
            "the samples of metric {}, cell `{}`, arm {} from block {} do not have their digest",
            set.metric, set.cell, set.arm, set.first_block
        );
        return Err(StoreError::Damaged { problem }.into());
    }
    Ok(set)
}
