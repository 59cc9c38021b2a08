//! Verdicts: what was decided of a run, each time it was decided.

use super::events::{exists, word};
use super::runs::differ;
use super::transact::Failure;
use super::{Store, StoreError, StoredFinding, StoredVerdict, Subject, chain, check, micros};
use crate::vocab::Seal;
use postgres::Transaction;
use postgres::types::Type;
use uuid::Uuid;

impl Store {
    /// Appends a verdict to its run, with its findings, in one transaction.
    pub fn append_verdict(
        &mut self,
        verdict: &StoredVerdict,
        findings: &[StoredFinding],
    ) -> Result<(), StoreError> {
        check::verdict(verdict, findings)?;
        self.transact("store the verdict", |transaction| {
            exists(transaction, verdict.run)?;
            insert(transaction, verdict, findings, false)
        })
    }

    /// The verdicts of a run, in order.
    pub fn verdicts(&mut self, run: Uuid) -> Result<Vec<StoredVerdict>, StoreError> {
        self.transact("read the verdicts", |transaction| of(transaction, run))
    }

    /// The label that the newest verdict of a run gave itself, where the experiment has labels of its own.
    pub fn label(&mut self, run: Uuid) -> Result<Option<String>, StoreError> {
        self.transact("read the verdict", |transaction| {
            let newest =
                "select doc ->> 'label' from harness.verdicts where run_id = $1 order by seq desc limit 1";
            Ok(transaction
                .query_typed_opt(newest, &[(&run, Type::UUID)])?
                .map(|it| it.try_get(0))
                .transpose()?
                .flatten())
        })
    }

    /// The findings of a verdict, in order of subject, id and cell.
    pub fn findings(&mut self, run: Uuid, seq: u32) -> Result<Vec<StoredFinding>, StoreError> {
        self.transact("read the findings", |transaction| findings_of(transaction, run, seq))
    }
}

pub(super) fn insert(
    transaction: &mut Transaction<'_>,
    it: &StoredVerdict,
    findings: &[StoredFinding],
    found: bool,
) -> Result<(), Failure> {
    let seq = check::whole("verdict.seq", it.seq)?;
    let inserted = transaction.execute(
        "insert into harness.verdicts (run_id, seq, verdict, doc, harness, decided_at) \
         values ($1, $2, $3, $4, $5, $6) on conflict do nothing",
        &[&it.run, &seq, &it.verdict.as_str(), &it.doc, &it.harness, &micros(it.decided_at)],
    )?;
    if inserted == 0 {
        let stored = of(transaction, it.run)?;
        let stored = stored.iter().find(|that| that.seq == it.seq).ok_or(Failure::Again)?;
        compare(stored, it)?;
        let mut given = findings.to_vec();
        given.sort_by(|a, b| a.key().cmp(&b.key()));
        let known = findings_of(transaction, it.run, it.seq)?;
        differ(&format!("findings of verdict {} of run {}", it.seq, it.run), &known, &given)?;
        return Ok(());
    }
    for finding in findings {
        insert_finding(transaction, it.run, seq, finding)?;
    }
    let experiment = chain::experiment_of(transaction, it.run)?;
    let (object, body) = (chain::object(it.run, it.seq), chain::body::verdict(it, findings));
    chain::seal(transaction, &experiment, Seal::Verdict, object, it.decided_at, found, body)
}

fn compare(stored: &StoredVerdict, given: &StoredVerdict) -> Result<(), StoreError> {
    let of = |field: &str| format!("{field} of verdict {} of run {}", given.seq, given.run);
    differ(&of("verdict"), &stored.verdict, &given.verdict)?;
    differ(&of("harness"), &stored.harness, &given.harness)?;
    differ(&of("decided_at"), &stored.decided_at, &micros(given.decided_at))?;
    if stored.doc != given.doc {
        return Err(StoreError::Contradiction { difference: of("document") });
    }
    Ok(())
}

fn insert_finding(
    transaction: &mut Transaction<'_>,
    run: Uuid,
    seq: i32,
    it: &StoredFinding,
) -> Result<(), Failure> {
    transaction.execute(
        "insert into harness.findings (run_id, seq, kind, id, metric, cell, treatment, control, finding, \
         n_control, n_treatment, mean_control, mean_treatment, gain, gain_low, gain_high, statistic, df, p_value, \
         ln_p, p_adjusted, effect_size) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
         $16, $17, $18, $19, $20, $21, $22)",
        &[
            &run,
            &seq,
            &it.subject.as_str(),
            &it.id,
            &it.metric,
            &it.cell,
            &it.treatment,
            &it.control,
            &it.finding.as_str(),
            &check::whole("finding.n_control", it.n_control)?,
            &check::whole("finding.n_treatment", it.n_treatment)?,
            &it.mean_control,
            &it.mean_treatment,
            &it.gain,
            &it.gain_low,
            &it.gain_high,
            &it.statistic,
            &it.df,
            &it.p_value,
            &it.ln_p,
            &it.p_adjusted,
            &it.effect_size,
        ],
    )?;
    Ok(())
}

pub(super) fn of(transaction: &mut Transaction<'_>, run: Uuid) -> Result<Vec<StoredVerdict>, Failure> {
    let rows = transaction.query_typed(
        "select seq, verdict, doc, harness, decided_at from harness.verdicts where run_id = $1 order by seq",
        &[(&run, Type::UUID)],
    )?;
    rows.iter()
        .map(|row| {
            Ok(StoredVerdict {
                run,
                seq: row.try_get::<_, i32>(0)?.unsigned_abs(),
                verdict: word(row, 1)?,
                doc: row.try_get(2)?,
                harness: row.try_get(3)?,
                decided_at: row.try_get(4)?,
            })
        })
        .collect()
}

impl StoredFinding {
    /// What it is about: the order of findings.
    pub(super) fn key(&self) -> (Subject, [&str; 5]) {
        (self.subject, [&self.id, &self.metric, &self.cell, &self.treatment, &self.control])
    }
}

pub(super) fn findings_of(
    transaction: &mut Transaction<'_>,
    run: Uuid,
    seq: u32,
) -> Result<Vec<StoredFinding>, Failure> {
    let rows = transaction.query_typed(
        "select kind, id, metric, cell, treatment, control, finding, n_control, n_treatment, mean_control, \
         mean_treatment, gain, gain_low, gain_high, statistic, df, p_value, ln_p, p_adjusted, effect_size \
         from harness.findings where run_id = $1 and seq = $2",
        &[(&run, Type::UUID), (&check::whole("verdict.seq", seq)?, Type::INT4)],
    )?;
    let mut findings = rows
        .iter()
        .map(|row| {
            Ok(StoredFinding {
                subject: if row.try_get::<_, &str>(0)? == "guard" {
                    Subject::Guard
                } else {
                    Subject::Hypothesis
                },
                id: row.try_get(1)?,
                metric: row.try_get(2)?,
                cell: row.try_get(3)?,
                treatment: row.try_get(4)?,
                control: row.try_get(5)?,
                finding: word(row, 6)?,
                n_control: row.try_get::<_, i32>(7)?.unsigned_abs(),
                n_treatment: row.try_get::<_, i32>(8)?.unsigned_abs(),
                mean_control: row.try_get(9)?,
                mean_treatment: row.try_get(10)?,
                gain: row.try_get(11)?,
                gain_low: row.try_get(12)?,
                gain_high: row.try_get(13)?,
                statistic: row.try_get(14)?,
                df: row.try_get(15)?,
                p_value: row.try_get(16)?,
                ln_p: row.try_get(17)?,
                p_adjusted: row.try_get(18)?,
                effect_size: row.try_get(19)?,
            })
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    findings.sort_by(|a, b| a.key().cmp(&b.key()));
    Ok(findings)
}
