use std::num::NonZero;
use std::thread;

/// Computes `f(0) .. f(count - 1)`, in order, on all cores. Every piece depends on its index alone.
pub(super) fn map<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let size = count.div_ceil(threads).max(1);
    let f = &f;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count)
            .step_by(size)
            .map(|first| scope.spawn(move || (first..(first + size).min(count)).map(f).collect::<Vec<T>>()))
            .collect();
        let parts = workers.into_iter().map(|it| it.join().expect("a simulation does not panic"));
        parts.flatten().collect()
    })
}
