//! Independent pieces of work on several cores.

use std::num::NonZero;
use std::ops::Range;
use std::sync::OnceLock;
use std::thread;

/// Computes `f(0) .. f(count - 1)`, in order, whatever the number of threads.
///
/// Every piece must depend on its index alone. Work below `2 * grain` pieces stays on the calling thread.
pub(super) fn map<T: Send>(count: usize, grain: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    map_with(count, grain, || (), |(), index| f(index))
}

/// As [`map`], with memory that is made once a thread; no piece may depend on what the one before left in it.
pub(super) fn map_with<S, T: Send>(
    count: usize,
    grain: usize,
    scratch: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    // Asking the system takes longer than a test of 50 observations.
    static CORES: OnceLock<usize> = OnceLock::new();
    let most = count / grain.max(1);
    if most < 2 {
        return map_on(1, count, scratch, f);
    }
    let cores = *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get));
    map_on(cores.min(most), count, scratch, f)
}

fn map_on<S, T: Send>(
    threads: usize,
    count: usize,
    scratch: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    let work = |range: Range<usize>| {
        let mut scratch = scratch();
        range.map(|index| f(&mut scratch, index)).collect::<Vec<T>>()
    };
    if threads <= 1 {
        return work(0..count);
    }
    let size = count.div_ceil(threads);
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let range = (thread * size).min(count)..((thread + 1) * size).min(count);
                scope.spawn(move || work(range))
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| match worker.join() {
                Ok(part) => part,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::map_on;

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let expected: Vec<usize> = (0..103).map(|index| index * index).collect();
        for threads in 1..9 {
            let square = |scratch: &mut usize, index: usize| {
                *scratch = index;
                *scratch * index
            };
            assert_eq!(map_on(threads, 103, || 0, square), expected);
        }
        assert_eq!(map_on(4, 0, || (), |(), index| index), Vec::<usize>::new());
    }
}
