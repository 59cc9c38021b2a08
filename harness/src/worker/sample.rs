use super::answers::Answers;
use super::{Error, Result, clock};
use crate::vocab::{Clock, Unit, UnitKind};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// One sample in the making.
pub struct Sample {
    /// The block; warm-ups and measured blocks are counted apart, each from 0.
    pub block: u32,
    /// Whether this is a warm-up.
    pub warmup: bool,
    clock: Clock,
    metrics: Vec<(String, Unit)>,
    values: BTreeMap<String, f64>,
    answers: Answers,
    problem: Option<Error>,
}

impl Sample {
    pub(super) fn new(block: u32, warmup: bool, clock: Clock, metrics: Vec<(String, Unit)>) -> Self {
        let (values, answers) = (BTreeMap::new(), Answers::default());
        Self { block, warmup, clock, metrics, values, answers, problem: None }
    }

    /// Whether the experiment asks for `metric`.
    pub fn wants(&self, metric: &str) -> bool {
        self.metrics.iter().any(|(name, _)| name == metric)
    }

    /// Times `work` by the registered clock as the value of `metric`.
    pub fn time<T>(&mut self, metric: &str, work: impl FnOnce() -> T) -> T {
        let (elapsed, result) = clock::time(self.clock, work);
        self.duration(metric, elapsed);
        result
    }

    /// Times `passes` of `work` in one go and records their mean as the value of `metric`; returns what the last
    /// one gave, or the first error.
    ///
    /// For work so short that whatever happens on the host beside it would show. `passes` is at least 1.
    pub fn mean_time<T, E>(
        &mut self,
        metric: &str,
        passes: u32,
        mut work: impl FnMut() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let (elapsed, result) = clock::time(self.clock, || {
            for _ in 1..passes {
                std::hint::black_box(work()?);
            }
            work()
        });
        self.put(metric, UnitKind::Time, elapsed.as_nanos() as f64 / f64::from(passes.max(1)));
        result
    }

    /// Times `work` of `events` events in one go: as events a second the value of `rate`, and as a duration that of
    /// `time`, whichever of them is asked for.
    ///
    /// For work so short that the clock must not be read for each. Work that takes no time at all fails the sample.
    pub fn rate<T>(&mut self, rate: &str, time: &str, events: u64, work: impl FnOnce() -> T) -> T {
        let (elapsed, result) = clock::time(self.clock, work);
        self.duration(time, elapsed);
        if self.wants(rate) {
            if elapsed.is_zero() {
                self.fail(Error::new(format!("{events} events of `{rate}` took no time by the clock")));
            } else {
                self.put(rate, UnitKind::Rate, events as f64 / elapsed.as_secs_f64());
            }
        }
        result
    }

    /// Records a duration as the value of `metric`, in its registered unit.
    pub fn duration(&mut self, metric: &str, duration: Duration) {
        self.put(metric, UnitKind::Time, duration.as_nanos() as f64);
    }

    /// Records an amount of memory as the value of `metric`, in its registered unit.
    pub fn bytes(&mut self, metric: &str, bytes: u64) {
        self.put(metric, UnitKind::Bytes, bytes as f64);
    }

    /// Records a number as the value of `metric`; it is taken to be in the registered unit.
    pub fn value(&mut self, metric: &str, value: f64) {
        if !value.is_finite() {
            self.fail(Error::new(format!("value of `{metric}` is {value}, expected a finite number")));
        } else if self.wants(metric) {
            self.values.insert(metric.to_owned(), value);
        }
    }

    /// Adds an answer of the work to the digest of the sample.
    ///
    /// Arms whose digests differ do not do the same work, and the run is invalid.
    pub fn answer(&mut self, answer: &impl Hash) {
        answer.hash(&mut self.answers);
    }

    fn put(&mut self, metric: &str, kind: UnitKind, base: f64) {
        let Some(&(_, unit)) = self.metrics.iter().find(|(name, _)| name == metric) else { return };
        if unit.kind() == kind {
            self.values.insert(metric.to_owned(), base / unit.scale());
        } else {
            self.fail(Error::new(format!(
                "metric `{metric}` is registered in `{unit}`, but is measured as {kind:?}"
            )));
        }
    }

    fn fail(&mut self, problem: Error) {
        self.problem.get_or_insert(problem);
    }

    /// The values and the digest, if all went well.
    pub(super) fn finish(self) -> Result<(BTreeMap<String, f64>, String)> {
        match self.problem {
            Some(problem) => Err(problem),
            None => Ok((self.values, format!("{:016x}", self.answers.finish()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_the_registered_unit() {
        let ms = Unit::parse("ms").unwrap();
        let mut sample = Sample::new(
            0,
            false,
            Clock::Wall,
            vec![("open".into(), ms), ("size".into(), Unit::parse("KiB").unwrap())],
        );
        sample.duration("open", Duration::from_micros(1500));
        sample.bytes("size", 2048);
        sample.bytes("not asked for", 1);
        let (values, _) = sample.finish().unwrap();
        assert_eq!(values, BTreeMap::from([("open".to_owned(), 1.5), ("size".to_owned(), 2.0)]));
    }

    #[test]
    fn a_rate_is_events_a_second() {
        let unit = |text| Unit::parse(text).unwrap();
        let metrics = vec![("speed".into(), unit("kop/s")), ("slice".into(), unit("s"))];
        let mut sample = Sample::new(0, false, Clock::Wall, metrics);
        sample.rate("speed", "slice", 500, || std::thread::sleep(Duration::from_millis(2)));
        let (values, _) = sample.finish().unwrap();
        assert!((values["speed"] * values["slice"] - 0.5).abs() < 1e-9, "{values:?}");
    }

    #[test]
    fn a_value_that_is_no_number_fails_the_sample() {
        let mut sample = Sample::new(0, false, Clock::Wall, vec![("x".into(), Unit::parse("1").unwrap())]);
        sample.value("x", f64::NAN);
        assert_eq!(sample.finish().unwrap_err().to_string(), "value of `x` is NaN, expected a finite number");
    }

    #[test]
    fn the_mean_of_passes_is_the_time_of_one() {
        let ns = Unit::parse("ns").unwrap();
        let mut sample = Sample::new(0, false, Clock::Wall, vec![("t".into(), ns)]);
        let mut calls = 0;
        let whole = std::time::Instant::now();
        let last = sample.mean_time("t", 4, || {
            calls += 1;
            std::thread::sleep(Duration::from_millis(2));
            Ok::<_, ()>(calls)
        });
        assert_eq!(last, Ok(4));
        let whole = whole.elapsed().as_nanos() as f64;
        // Sleeping may take longer, never shorter.
        let mean = sample.finish().unwrap().0["t"];
        assert!(mean >= 2e6 && 4.0 * mean <= whole, "{mean} of {whole}");
    }

    #[test]
    fn both_clocks_run() {
        for clock in [Clock::Wall, Clock::ThreadCpu] {
            let mut sample = Sample::new(0, false, clock, vec![("t".into(), Unit::parse("ns").unwrap())]);
            let sum = sample.time("t", || {
                (0..200_000u64).fold(0, |sum: u64, i| std::hint::black_box(sum.wrapping_add(i)))
            });
            assert_eq!(sum, 19_999_900_000);
            assert!(sample.finish().unwrap().0["t"] > 0.0, "{clock}");
        }
    }
}
