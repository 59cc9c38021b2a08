//! What a check works with: the numbers that a claim takes, and what of them is missing.

use super::document::{Claim, Document, Part, Quantity, Reference, SpreadKind, Value};
use super::finding::{Computed, Finding};
use super::reach::{Input, Reach};
use super::row::Row;
use super::verdict::{self, Verdict};
use crate::stats::dist::student_t_isf;
use crate::stats::{Moments, Ratio, ratio_of_moments};
use crate::vocab::{Direction, Unit};

/// The numbers that a claim takes.
pub(super) struct Frame<'a> {
    pub(super) document: &'a Document,
    pub(super) claim: &'a Claim,
    /// What became of the claims that this one refers to, by the place of the claim.
    pub(super) rows: &'a [Option<Row>],
    inputs: Vec<Input>,
    taken: Vec<(usize, Part)>,
    missing: Vec<String>,
}

/// A number that a formula takes, in the unit that was asked for.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    index: usize,
    factor: f64,
}

impl Slot {
    pub(super) fn of(self, values: &[f64]) -> f64 {
        values[self.index] * self.factor
    }

    pub(super) fn times(self, factor: f64) -> Self {
        Self { factor: self.factor * factor, ..self }
    }
}

/// A mean with its deviation and n.
#[derive(Clone, Copy)]
pub(super) struct Arm {
    pub(super) mean: Slot,
    pub(super) sd: Slot,
    n: u32,
}

impl Arm {
    pub(super) fn moments(self, values: &[f64]) -> Option<Moments> {
        // Half a unit below a small deviation there may be nothing left.
        Moments::from_summary(self.mean.of(values), self.sd.of(values).max(0.0), self.n as usize).ok()
    }
}

/// Two arms that are compared.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) treatment: Arm,
    pub(super) control: Arm,
}

impl Pair {
    pub(super) fn moments(self, values: &[f64]) -> Option<(Moments, Moments)> {
        Some((self.treatment.moments(values)?, self.control.moments(values)?))
    }

    pub(super) fn ratio(self, values: &[f64]) -> Option<Ratio> {
        let (treatment, control) = self.moments(values)?;
        ratio_of_moments(&treatment, &control).ok()
    }

    /// The interval of the relative change, by Fieller's method.
    pub(super) fn change(self, values: &[f64], level: f64) -> Option<(f64, f64)> {
        let change = self.ratio(values)?.fieller(level).ok()??.change.interval(level)?;
        Some((change.lower, change.upper))
    }
}

impl<'a> Frame<'a> {
    pub(super) fn new(document: &'a Document, claim: &'a Claim, rows: &'a [Option<Row>]) -> Self {
        Self { document, claim, rows, inputs: Vec::new(), taken: Vec::new(), missing: Vec::new() }
    }

    /// Forgets the numbers of the row before.
    pub(super) fn next_row(&mut self) {
        self.inputs.clear();
        self.taken.clear();
    }

    /// The quantities under a key of the claim.
    pub(super) fn all(&self, key: &str) -> &'a [usize] {
        self.claim.operands.iter().find(|(name, _)| *name == key).map_or(&[], |(_, it)| it.as_slice())
    }

    /// The quantity under a key that the kind needs.
    pub(super) fn one(&self, key: &str) -> usize {
        self.all(key).first().copied().unwrap_or(0)
    }

    /// Treatments with their controls: a single control is that of all.
    pub(super) fn pairs(&self) -> Vec<(usize, usize)> {
        let (treatments, controls) = (self.all("treatment"), self.all("control"));
        let last = controls.last().copied().unwrap_or(0);
        let control = |i: usize| controls.get(i).copied().unwrap_or(last);
        treatments.iter().enumerate().map(|(i, it)| (*it, control(i))).collect()
    }

    pub(super) fn quantity(&self, place: usize) -> &'a Quantity {
        &self.document.quantities[place]
    }

    pub(super) fn name(&self, place: usize) -> &'a str {
        &self.quantity(place).id
    }

    pub(super) fn unit(&self, place: usize) -> Option<Unit> {
        self.quantity(place).unit
    }

    /// Which way a quantity improves.
    pub(super) fn better(&self, place: usize) -> Direction {
        self.quantity(place).better.unwrap_or(Direction::Lower)
    }

    fn lacks<T>(&mut self, place: usize, what: &str) -> Option<T> {
        self.lacking(format!("{} has no {what}", self.name(place)))
    }

    /// Something that a check needs is not printed.
    pub(super) fn lacking<T>(&mut self, reason: String) -> Option<T> {
        if !self.missing.contains(&reason) {
            self.missing.push(reason);
        }
        None
    }

    fn take(&mut self, place: usize, part: Part, input: Input, unit: Option<Unit>) -> Slot {
        let index = self.taken.iter().position(|it| *it == (place, part)).unwrap_or_else(|| {
            let half = if self.claim.exact.contains(&part) { 0.0 } else { input.half };
            self.inputs.push(Input { half, ..input });
            self.taken.push((place, part));
            self.taken.len() - 1
        });
        let factor = match (self.unit(place), unit) {
            (Some(own), Some(wanted)) => own.scale() / wanted.scale(),
            _ => 1.0,
        };
        Slot { index, factor }
    }

    pub(super) fn mean(&mut self, place: usize, unit: Option<Unit>) -> Option<Slot> {
        match self.quantity(place).mean.as_ref().map(super::document::Figure::input) {
            Some(input) => Some(self.take(place, Part::Mean, input, unit)),
            None => self.lacks(place, "value"),
        }
    }

    pub(super) fn n(&mut self, place: usize) -> Option<u32> {
        let n = self.quantity(place).n;
        if n.is_none() { self.lacks(place, "n") } else { n }
    }

    /// The deviation of the observations, whichever way the spread is printed.
    pub(super) fn sd(&mut self, place: usize, unit: Option<Unit>) -> Option<Slot> {
        let Some(spread) = self.quantity(place).spread.clone() else {
            // Both at once: who looks for the one will look for the other.
            self.n(place);
            return self.lacks(place, "spread");
        };
        let slot = self.take(place, Part::Spread, spread.figure.input(), unit);
        match spread.kind {
            SpreadKind::Sd => Some(slot),
            SpreadKind::Se => Some(slot.times(f64::from(self.n(place)?).sqrt())),
            SpreadKind::Ci95 => {
                let n = f64::from(self.n(place)?);
                match student_t_isf(0.025, n - 1.0) {
                    Ok(t) => Some(slot.times(n.sqrt() / t)),
                    Err(_) => self.lacks(place, "n of 2 or more"),
                }
            }
            SpreadKind::Unknown => self.lacks(place, "spread of a known kind"),
        }
    }

    /// The printed number behind `±`.
    pub(super) fn plus_minus(&mut self, place: usize, unit: Option<Unit>) -> Option<Slot> {
        match self.quantity(place).spread.clone() {
            Some(it) => Some(self.take(place, Part::Spread, it.figure.input(), unit)),
            None => self.lacks(place, "spread"),
        }
    }

    pub(super) fn arm(&mut self, place: usize, unit: Option<Unit>) -> Option<Arm> {
        let (mean, sd, n) = (self.mean(place, unit), self.sd(place, unit), self.n(place));
        Some(Arm { mean: mean?, sd: sd?, n: n? })
    }

    /// Two arms, in the unit of the control.
    pub(super) fn pair(&mut self, (treatment, control): (usize, usize)) -> Option<Pair> {
        let unit = self.unit(control);
        let (treatment, control) = (self.arm(treatment, unit), self.arm(control, unit));
        Some(Pair { treatment: treatment?, control: control? })
    }

    /// Whether both are printed with spread and n, so that more can be said than is asked.
    pub(super) fn has_moments(&self, (treatment, control): (usize, usize)) -> bool {
        [treatment, control].into_iter().all(|it| {
            let it = self.quantity(it);
            it.mean.is_some()
                && it.n.is_some_and(|n| n > 1)
                && it.spread.as_ref().is_some_and(|it| it.kind != SpreadKind::Unknown)
        })
    }

    /// The number of a name in an expression.
    pub(super) fn value(&mut self, it: Reference, unit: Option<Unit>) -> Option<Operand> {
        Some(match it.value {
            Value::Mean => Operand::Slot(self.mean(it.quantity, unit)?),
            Value::Sd => Operand::Slot(self.sd(it.quantity, unit)?),
            Value::Se => {
                let (sd, n) = (self.sd(it.quantity, unit), self.n(it.quantity));
                Operand::Slot(sd?.times(f64::from(n?).sqrt().recip()))
            }
            Value::N => Operand::Exact(f64::from(self.n(it.quantity)?)),
        })
    }

    pub(super) fn input(&self, slot: Slot) -> Input {
        let it = self.inputs[slot.index];
        Input { value: it.value * slot.factor, half: it.half * slot.factor }
    }

    pub(super) fn reach(&self, formula: impl Fn(&[f64]) -> Option<f64>) -> Option<Reach> {
        Reach::of(&self.inputs, formula)
    }

    /// At the printed values only.
    pub(super) fn at<T>(&self, formula: impl Fn(&[f64]) -> Option<T>) -> Option<T> {
        let values: Vec<f64> = self.inputs.iter().map(|it| it.value).collect();
        formula(&values)
    }

    /// What there is to say when nothing can be computed.
    pub(super) fn cannot(&self, formula: &str) -> Finding {
        let reason = if self.missing.is_empty() {
            "it is not defined for the printed numbers".to_owned()
        } else {
            self.missing.join("; ")
        };
        Finding { reason, ..Finding::new(formula, Verdict::CannotBeChecked) }
    }

    /// A single result, judged by what is claimed.
    pub(super) fn judged(&self, formula: &str, label: &str, reach: Option<Reach>) -> Finding {
        let Some(reach) = reach else { return self.cannot(formula) };
        self.all_judged(formula, vec![Computed { label: label.to_owned(), reach }])
    }

    /// Several results, each of which must be what is claimed.
    pub(super) fn all_judged(&self, formula: &str, results: Vec<Computed>) -> Finding {
        let claimed = &self.claim.claimed;
        let verdict = Verdict::all(results.iter().map(|it| verdict::of_value(claimed, it.reach)));
        let mut finding = Finding { results, ..Finding::new(formula, verdict) };
        let unbounded = finding.results.iter().any(|it| !it.reach.range.is_bounded());
        if verdict == Verdict::CannotBeChecked && unbounded {
            finding.reason = "within the rounding of its inputs it can be anything".to_owned();
        } else if finding.results.iter().all(|it| verdict::is_cut_off(claimed, it.reach.at))
            && verdict != Verdict::Agrees
        {
            finding.reason = "digits were cut off, not rounded".to_owned();
        }
        finding
    }
}

/// What a name in an expression is worth.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    Slot(Slot),
    Exact(f64),
}

impl Operand {
    pub(super) fn of(self, values: &[f64]) -> f64 {
        match self {
            Self::Slot(slot) => slot.of(values),
            Self::Exact(it) => it,
        }
    }
}
