//! Samples: chunks of consecutive blocks in arrays, all arms and metrics of a block in one transaction.

use super::events::exists;
use super::runs::differ;
use super::times::{self, Line};
use super::transact::Failure;
use super::{CellArm, SampleSet, Store, StoreError, check, series};
use crate::vocab::Digest;
use postgres::Transaction;
use postgres::error::SqlState;
use postgres::types::{ToSql, Type};
use std::collections::HashMap;
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
    for batch in batches(&rows) {
        match insert_rows(transaction, run, batch) {
            // Somebody else stores the same run: what it stored is compared in the next attempt.
            Ok(inserted) if inserted < batch.len() as u64 => return Err(Failure::Again),
            Ok(_) => {}
            Err(error) => return Err(refused(error, run, batch)),
        }
    }
    Ok(())
}

/// The most samples of one statement. A message of the protocol holds some ten times as many.
const TOGETHER: usize = 4_000_000;

/// Rows in statements, as few as the limit allows.
fn batches(rows: &[SampleSet]) -> Vec<&[SampleSet]> {
    let mut batches = Vec::new();
    let (mut from, mut n) = (0, 0);
    for (i, row) in rows.iter().enumerate() {
        if n + row.values.len() > TOGETHER && from < i {
            batches.push(&rows[from..i]);
            (from, n) = (i, 0);
        }
        n += row.values.len();
    }
    batches.push(&rows[from..]);
    batches
}

/// Makes writers of one run wait for each other: chunks of different sizes have different keys, and only looking
/// first keeps a block from being stored twice. Needs no right and ends with the transaction.
pub(super) fn lock(transaction: &mut Transaction<'_>, run: Uuid) -> Result<(), Failure> {
    let (_, key) = run.as_u64_pair();
    transaction
        .query_typed("select pg_advisory_xact_lock($1)", &[(&key.cast_signed(), Type::INT8)])
        .map(drop)
        .map_err(Failure::Sql)
}

/// A run that has ended takes nothing more, says the schema.
fn over(error: postgres::Error, run: Uuid) -> Failure {
    if error.code().is_some_and(|it| it.code() == "HL002") {
        return StoreError::Over(run).into();
    }
    error.into()
}

/// A foreign key that does not hold is a run or an arm that was not begun.
fn refused(error: postgres::Error, run: Uuid, rows: &[SampleSet]) -> Failure {
    if error.code() != Some(&SqlState::FOREIGN_KEY_VIOLATION) {
        return over(error, run);
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
         s.metric, s.cell, s.arm, s.warmup, s.first_block, s.unit, s.\"values\", s.sha256, null::text, \
         coalesce(s.at_ns, t.at_ns), coalesce(s.at_start, t.at_start), coalesce(s.at_step, t.at_step), \
         coalesce(s.at_off, t.at_off), coalesce(s.at_packed, t.at_packed) \
         from unnest($2::text[], $3::text[], $4::text[], $5::bool[], $6::int[], $7::bigint[]) \
           as k(metric, cell, arm, warmup, first_block, past) \
         join harness.sample_sets s on s.run_id = $1 and s.metric = k.metric and s.cell = k.cell \
           and s.arm = k.arm and s.warmup = k.warmup and s.first_block < k.past \
           and s.first_block + s.n > k.first_block \
         left join harness.sample_sets t on t.run_id = s.run_id and t.metric = s.times_of and t.cell = s.cell \
           and t.arm = s.arm and t.warmup = s.warmup and t.first_block = s.first_block",
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
    rows.iter().map(|row| Ok(read(row)?.0)).collect()
}

/// How a row says when its samples were complete; see the schema.
enum Times<'a> {
    None,
    Plain(&'a [i64]),
    Packed(Vec<u8>),
    Line(Line),
    /// As the row of this metric has it.
    Of(&'a str),
}

/// The shortest form of each row's times. Every metric of a sample has the same ones.
fn shortest_times(rows: &[SampleSet]) -> Vec<Times<'_>> {
    let mut first: HashMap<(&str, &str, bool, u32), &SampleSet> = HashMap::new();
    rows.iter()
        .map(|row| {
            let known = *first.entry((&row.cell, &row.arm, row.warmup, row.first_block)).or_insert(row);
            if row.at_ns.is_empty() {
                Times::None
            } else if known.metric != row.metric && known.at_ns == row.at_ns {
                Times::Of(&known.metric)
            } else if let Some(packed) = times::pack(&row.at_ns) {
                Times::Packed(packed)
            } else {
                Line::of(&row.at_ns).map_or(Times::Plain(&row.at_ns), Times::Line)
            }
        })
        .collect()
}

/// Stores rows in one statement: every round trip counts between two blocks. The samples of all rows travel in
/// one array, of which the server gives each row its part.
fn insert_rows(
    transaction: &mut Transaction<'_>,
    run: Uuid,
    rows: &[SampleSet],
) -> Result<u64, postgres::Error> {
    let total = rows.iter().map(|it| it.values.len()).sum();
    let mut values: Vec<f64> = Vec::with_capacity(total);
    let mut value_at = Vec::with_capacity(rows.len());
    let (mut plain, mut offs): (Vec<i64>, Vec<i32>) = (Vec::new(), Vec::new());
    let mut plain_at: Vec<Option<i32>> = vec![None; rows.len()];
    let mut off_at = plain_at.clone();
    let (mut starts, mut steps): (Vec<Option<i64>>, Vec<Option<i64>>) =
        (vec![None; rows.len()], vec![None; rows.len()]);
    let mut times_of: Vec<Option<&str>> = vec![None; rows.len()];
    let mut packed: Vec<Option<Vec<u8>>> = vec![None; rows.len()];
    for (i, (row, times)) in rows.iter().zip(shortest_times(rows)).enumerate() {
        value_at.push(values.len() as i32);
        values.extend_from_slice(&row.values);
        match times {
            Times::None => {}
            Times::Plain(times) => {
                plain_at[i] = Some(plain.len() as i32);
                plain.extend_from_slice(times);
            }
            Times::Line(line) => {
                off_at[i] = Some(offs.len() as i32);
                (starts[i], steps[i]) = (Some(line.start), Some(line.step));
                offs.extend(line.off);
            }
            Times::Of(metric) => times_of[i] = Some(metric),
            Times::Packed(bytes) => packed[i] = Some(bytes),
        }
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
        (&digests, Type::BYTEA_ARRAY),
        (&plain_at, Type::INT4_ARRAY),
        (&starts, Type::INT8_ARRAY),
        (&steps, Type::INT8_ARRAY),
        (&off_at, Type::INT4_ARRAY),
        (&times_of, Type::TEXT_ARRAY),
        (&values, Type::FLOAT8_ARRAY),
        (&plain, Type::INT8_ARRAY),
        (&offs, Type::INT4_ARRAY),
        (&packed, Type::BYTEA_ARRAY),
    ];
    transaction.execute_typed(
        "insert into harness.sample_sets \
           (run_id, metric, cell, arm, warmup, first_block, unit, n, \"values\", sha256, \
            at_ns, at_start, at_step, at_off, times_of, at_packed) \
         select $1, k.metric, k.cell, k.arm, k.warmup, k.first_block, k.unit, k.n, \
           ($16::float8[])[k.value_at + 1 : k.value_at + k.n], k.sha256, \
           case when k.plain_at is not null then ($17::bigint[])[k.plain_at + 1 : k.plain_at + k.n] end, \
           k.at_start, k.at_step, \
           case when k.off_at is not null then ($18::int[])[k.off_at + 1 : k.off_at + k.n] end, k.times_of, k.at_packed \
         from unnest($2::text[], $3::text[], $4::text[], $5::bool[], $6::int[], $7::text[], $8::int[], $9::int[], \
           $10::bytea[], $11::int[], $12::bigint[], $13::bigint[], $14::int[], $15::text[], $19::bytea[]) \
           as k(metric, cell, arm, warmup, first_block, unit, n, value_at, sha256, plain_at, at_start, at_step, \
                off_at, times_of, at_packed) \
         on conflict do nothing",
        parameters,
    )
}

fn insert_cells(transaction: &mut Transaction<'_>, run: Uuid, cells: &[CellArm]) -> Result<(), Failure> {
    let mut known: Vec<CellArm> = Vec::new();
    for it in cells {
        let inserted = transaction.execute(
            "insert into harness.cell_arms (run_id, cell, arm, effective, result) \
             select $1, $2, $3, $4, $5 where exists (select 1 from harness.run_arms where run_id = $1 and arm = $3) \
             on conflict do nothing",
            &[&run, &it.cell, &it.arm, &it.effective, &it.result],
        );
        let inserted = inserted.map_err(|error| over(error, run))?;
        if inserted == 0 {
            // In order, and read once: of a run that is loaded again all of them are there.
            let place = |known: &[CellArm]| {
                known.binary_search_by(|that| (&that.cell, &that.arm).cmp(&(&it.cell, &it.arm))).ok()
            };
            if place(&known).is_none() {
                known = cells_of(transaction, run)?;
            }
            let Some(stored) = place(&known).map(|place| &known[place]) else {
                exists(transaction, run)?;
                return Err(StoreError::invalid("arm", format!("run {run} has no arm {}", it.arm)).into());
            };
            differ(&format!("what arm {} said in cell `{}` of run {run}", it.arm, it.cell), stored, it)?;
        }
    }
    Ok(())
}

pub(super) fn cells_of(transaction: &mut Transaction<'_>, run: Uuid) -> Result<Vec<CellArm>, Failure> {
    let rows = transaction.query_typed(
        "select cell, arm, effective, result from harness.cell_arms where run_id = $1 \
         order by cell collate \"C\", arm collate \"C\"",
        &[(&run, Type::UUID)],
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
    let rows = transaction.query_typed(
        "select metric, cell, arm, warmup, first_block, unit, \"values\", sha256, times_of, at_ns, at_start, at_step, \
         at_off, at_packed from harness.sample_sets where run_id = $1",
        &[(&run, Type::UUID)],
    )?;
    let read = rows.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let sets = series::join(with_times(read)?);
    match series::twice(&sets) {
        Some(place) => Err(StoreError::Damaged { problem: format!("{place} is stored twice") }.into()),
        None => Ok(sets),
    }
}

/// Gives chunks that share the times of another metric's chunk their own copy.
fn with_times(rows: Vec<(SampleSet, Option<String>)>) -> Result<Vec<SampleSet>, Failure> {
    let mut times: HashMap<(&str, &str, &str, bool, u32), &[i64]> = HashMap::new();
    for (it, _) in rows.iter().filter(|(it, _)| !it.at_ns.is_empty()) {
        times.insert((&it.metric, &it.cell, &it.arm, it.warmup, it.first_block), &it.at_ns);
    }
    let shared: Vec<Option<Vec<i64>>> = rows
        .iter()
        .map(|(it, of)| {
            let Some(of) = of else { return Ok(None) };
            let key = (of.as_str(), it.cell.as_str(), it.arm.as_str(), it.warmup, it.first_block);
            match times.get(&key).filter(|times| times.len() == it.values.len()) {
                Some(times) => Ok(Some(times.to_vec())),
                None => Err(damaged(it, &format!("have the times of metric {of}, which has none"))),
            }
        })
        .collect::<Result<_, Failure>>()?;
    let own = |((set, _), times): ((SampleSet, _), Option<Vec<i64>>)| match times {
        Some(at_ns) => SampleSet { at_ns, ..set },
        None => set,
    };
    Ok(rows.into_iter().zip(shared).map(own).collect())
}

/// A chunk from its row, and the metric that has its times. Its digest must hold: a changed bit is found here.
fn read(row: &postgres::Row) -> Result<(SampleSet, Option<String>), Failure> {
    let mut set = SampleSet {
        metric: row.try_get(0)?,
        cell: row.try_get(1)?,
        arm: row.try_get(2)?,
        warmup: row.try_get(3)?,
        first_block: row.try_get::<_, i32>(4)?.unsigned_abs(),
        unit: row.try_get(5)?,
        values: row.try_get(6)?,
        at_ns: row.try_get::<_, Option<Vec<i64>>>(9)?.unwrap_or_default(),
    };
    let digest: &[u8] = row.try_get(7)?;
    if Digest::of_samples(&set.values).0[..] != *digest {
        return Err(damaged(&set, "do not have their digest"));
    }
    if let (Some(start), Some(step), Some(off)) =
        (row.try_get(10)?, row.try_get(11)?, row.try_get::<_, Option<Vec<i32>>>(12)?)
    {
        let times = Line { start, step, off }.times();
        set.at_ns = times.ok_or_else(|| damaged(&set, "have times that no clock shows"))?;
    }
    if let Some(packed) = row.try_get::<_, Option<&[u8]>>(13)? {
        let times = times::unpack(packed, set.values.len());
        set.at_ns = times.ok_or_else(|| damaged(&set, "have times that no clock shows"))?;
    }
    if !set.at_ns.is_empty() && set.at_ns.len() != set.values.len() {
        return Err(damaged(&set, &format!("are {}, with {} times", set.values.len(), set.at_ns.len())));
    }
    Ok((set, row.try_get(8)?))
}

fn damaged(set: &SampleSet, what: &str) -> Failure {
    let problem = format!(
        "the samples of metric {}, cell `{}`, arm {} from block {} {what}",
        set.metric, set.cell, set.arm, set.first_block
    );
    StoreError::Damaged { problem }.into()
}
