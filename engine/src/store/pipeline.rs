//! The way of a commit: queued, logged, published, acknowledged.
//!
//! A commit puts its records into a queue under a short lock. The first one that waits becomes the leader: it takes
//! the whole queue, logs it at once, publishes the newest version it has logged, and wakes the others. Meanwhile the next
//! queue grows, so commits share syncs without a thread of their own. Readers see only what was logged.
//!
//! Orders of threads are checked with loom:
//! `RUSTFLAGS="--cfg loom" cargo test -p engine --lib --release store::pipeline`.

use std::time::Duration;

use super::sync::{Arc, Condvar, Mutex, MutexGuard, Published, lock, wait, wait_while};
use crate::error::Result;

/// Where records go.
pub(super) trait Sink {
    /// Makes the records of the commits up to `seq` as durable as they are to be before they are acknowledged.
    fn append(&mut self, records: Vec<u8>, seq: u64) -> Result<()>;
}

/// What was committed and not logged yet.
pub(super) struct Queue<V> {
    /// The newest version: what a writer goes on from.
    pub(super) head: Arc<V>,
    /// Number of its last commit.
    pub(super) seq: u64,
    pub(super) records: Vec<u8>,
}

/// How long a leader waits for company.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gather {
    pub(super) wait: Duration,
    pub(super) bytes: usize,
}

struct Progress {
    /// Everything up to this commit is acknowledged.
    logged: u64,
    leading: bool,
    /// Why nothing can be logged any more.
    stopped: Option<String>,
}

/// Why a commit was not acknowledged.
#[derive(Debug)]
pub(super) enum Refusal {
    /// This one led, and logging failed.
    Failed(crate::error::Error),
    /// Logging failed earlier.
    Stopped(String),
}

pub(super) struct Pipeline<V, L> {
    queue: Mutex<Queue<V>>,
    /// Somebody has filled the queue.
    filled: Condvar,
    gather: Option<Gather>,
    log: Mutex<L>,
    published: Published<V>,
    progress: Mutex<Progress>,
    turned: Condvar,
}

impl<V, L: Sink> Pipeline<V, L> {
    pub(super) fn new(head: Arc<V>, seq: u64, log: L, gather: Option<Gather>) -> Self {
        Self {
            published: Published::new(Arc::clone(&head)),
            queue: Mutex::new(Queue { head, seq, records: Vec::new() }),
            filled: Condvar::new(),
            gather,
            log: Mutex::new(log),
            progress: Mutex::new(Progress { logged: seq, leading: false, stopped: None }),
            turned: Condvar::new(),
        }
    }

    /// What readers see.
    pub(super) fn published(&self) -> &Published<V> {
        &self.published
    }

    /// The one place of the writer.
    pub(super) fn queue(&self) -> MutexGuard<'_, Queue<V>> {
        lock(&self.queue)
    }

    /// The log, between two groups.
    pub(super) fn log(&self) -> MutexGuard<'_, L> {
        lock(&self.log)
    }

    /// Why nothing can be committed any more.
    pub(super) fn stopped(&self) -> Option<String> {
        lock(&self.progress).stopped.clone()
    }

    /// Lets nothing be committed any more.
    pub(super) fn stop(&self, reason: String) {
        lock(&self.progress).stopped.get_or_insert(reason);
        self.turned.notify_all();
    }

    /// Says that the queue has grown.
    pub(super) fn pushed(&self, records: usize) {
        if self.gather.is_some_and(|gather| records >= gather.bytes) {
            self.filled.notify_one();
        }
    }

    /// Returns when commit `seq` is logged and published.
    pub(super) fn wait(&self, seq: u64) -> std::result::Result<(), Refusal> {
        let mut progress = lock(&self.progress);
        loop {
            if progress.logged >= seq {
                return Ok(());
            }
            if let Some(reason) = &progress.stopped {
                return Err(Refusal::Stopped(reason.clone()));
            }
            if !progress.leading {
                break;
            }
            progress = wait(&self.turned, progress);
        }
        progress.leading = true;
        drop(progress);
        let flushed = self.flush();
        let mut progress = lock(&self.progress);
        progress.leading = false;
        let outcome = match flushed {
            Ok(logged) => {
                progress.logged = progress.logged.max(logged);
                Ok(())
            }
            Err(error) => {
                progress.stopped.get_or_insert_with(|| error.with_cause());
                Err(Refusal::Failed(error))
            }
        };
        drop(progress);
        self.turned.notify_all();
        outcome
    }

    /// Logs and publishes everything that is queued.
    fn flush(&self) -> Result<u64> {
        let mut log = lock(&self.log);
        let mut queue = lock(&self.queue);
        if let Some(gather) = self.gather {
            let short = |queue: &mut Queue<V>| queue.records.len() < gather.bytes;
            queue = wait_while(&self.filled, queue, gather.wait, short);
        }
        let (head, seq) = (Arc::clone(&queue.head), queue.seq);
        let records = std::mem::take(&mut queue.records);
        drop(queue);
        log.append(records, seq)?;
        self.published.store(head);
        Ok(seq)
    }

    /// Exchanges both the head and what readers see for a version with the same commits.
    pub(super) fn install(&self, change: impl Fn(&V) -> V) {
        let _log = lock(&self.log);
        let mut queue = lock(&self.queue);
        queue.head = Arc::new(change(&queue.head));
        drop(queue);
        self.published.store(Arc::new(change(&self.published.load_full())));
    }

    /// Exchanges the head while nothing is being logged: `exchange` makes the new one, then what was queued is logged,
    /// `after` follows in the log, and the new head is published. Writers wait for `exchange` only.
    pub(super) fn switch(
        &self,
        exchange: impl FnOnce(&V) -> V,
        after: impl FnOnce(&mut L) -> Result<()>,
    ) -> Result<u64> {
        let mut log = lock(&self.log);
        let mut queue = lock(&self.queue);
        let head = Arc::new(exchange(&queue.head));
        queue.head = Arc::clone(&head);
        let (seq, records) = (queue.seq, std::mem::take(&mut queue.records));
        drop(queue);
        log.append(records, seq)?;
        after(&mut log)?;
        self.published.store(head);
        drop(log);
        let mut progress = lock(&self.progress);
        progress.logged = progress.logged.max(seq);
        drop(progress);
        self.turned.notify_all();
        Ok(seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was logged, a byte a commit.
    struct Logged(Arc<Mutex<Vec<u8>>>);

    impl Sink for Logged {
        fn append(&mut self, records: Vec<u8>, _: u64) -> Result<()> {
            lock(&self.0).extend(records);
            Ok(())
        }
    }

    type Counter = Pipeline<u64, Logged>;

    fn counter() -> (Arc<Counter>, Arc<Mutex<Vec<u8>>>) {
        let log = Arc::new(Mutex::new(Vec::new()));
        (Arc::new(Pipeline::new(Arc::new(0), 0, Logged(Arc::clone(&log)), None)), log)
    }

    fn commit(pipeline: &Counter) -> u64 {
        let mut queue = pipeline.queue();
        queue.seq += 1;
        let seq = queue.seq;
        queue.head = Arc::new(seq);
        queue.records.push(seq as u8);
        drop(queue);
        pipeline.wait(seq).unwrap();
        seq
    }

    fn two_writers_a_reader_and_a_switch() {
        let (pipeline, log) = counter();
        let spawn = |body: Box<dyn FnOnce(&Counter) + Send>| {
            let pipeline = Arc::clone(&pipeline);
            #[cfg(loom)]
            return loom::thread::spawn(move || body(&pipeline));
            #[cfg(not(loom))]
            return std::thread::spawn(move || body(&pipeline));
        };
        let written = Arc::clone(&log);
        let writer = spawn(Box::new(move |pipeline| {
            let seq = commit(pipeline);
            assert!(*pipeline.published().load_full() >= seq, "a commit is seen by who made it");
            assert!(lock(&written).contains(&(seq as u8)), "and it is logged");
        }));
        let switcher = spawn(Box::new(|pipeline| {
            pipeline.switch(|&head| head, |_| Ok(())).unwrap();
        }));
        let seen = *pipeline.published().load_full();
        assert!(lock(&log).len() as u64 >= seen, "a reader sees only what is logged");
        let seq = commit(&pipeline);
        let later = *pipeline.published().load_full();
        assert!(later >= seen.max(seq), "what is seen never goes back");
        writer.join().unwrap();
        switcher.join().unwrap();
        assert_eq!(*pipeline.published().load_full(), 2);
        assert_eq!(*lock(&log), [1, 2], "everything once, in order");
    }

    #[test]
    fn commits_are_logged_before_they_are_seen_and_seen_before_they_are_acknowledged() {
        #[cfg(loom)]
        {
            let mut model = loom::model::Builder::new();
            model.preemption_bound = Some(3);
            model.check(two_writers_a_reader_and_a_switch);
        }
        #[cfg(not(loom))]
        for _ in 0..200 {
            two_writers_a_reader_and_a_switch();
        }
    }

    #[test]
    #[cfg(not(loom))]
    fn after_a_failure_nobody_waits_and_nothing_is_published() {
        struct Broken;
        impl Sink for Broken {
            fn append(&mut self, _: Vec<u8>, _: u64) -> Result<()> {
                let source = std::io::Error::other("no");
                Err(crate::Error::io("sync", std::path::Path::new("log"), source))
            }
        }
        let pipeline = Pipeline::new(Arc::new(0), 0, Broken, None);
        let mut queue = pipeline.queue();
        (queue.seq, queue.head) = (1, Arc::new(1));
        drop(queue);
        std::thread::scope(|scope| {
            let waits = [0; 4].map(|_| scope.spawn(|| pipeline.wait(1)));
            let refusals = waits.map(|wait| wait.join().unwrap().unwrap_err());
            let failed = refusals.iter().filter(|refusal| matches!(refusal, Refusal::Failed(_))).count();
            assert_eq!(failed, 1, "{refusals:?}");
        });
        assert_eq!(pipeline.stopped().as_deref(), Some("failed to sync `log`: no"));
        assert_eq!(*pipeline.published().load_full(), 0);
    }
}
