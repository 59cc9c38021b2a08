use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Progress of a run, drawn between blocks only: nothing is written, and nothing runs, while one is measured.
pub(super) struct Progress {
    total: usize,
    done: usize,
    here: usize,
    since: Instant,
    drawn: Option<Instant>,
    terminal: bool,
    quiet: bool,
    heading: String,
    heading_since: Instant,
}

impl Progress {
    pub(super) fn new(total: usize, terminal: bool, quiet: bool) -> Self {
        let now = Instant::now();
        let heading = String::new();
        Self {
            total,
            done: 0,
            here: 0,
            since: now,
            drawn: None,
            terminal,
            quiet,
            heading,
            heading_since: now,
        }
    }

    /// One step of `heading` is done; `measured` says whether it took time or was there already.
    pub(super) fn step(&mut self, heading: &str, measured: bool) {
        if self.heading != heading {
            self.close_heading();
            self.heading = heading.to_owned();
            self.heading_since = Instant::now();
        }
        self.done += 1;
        self.here += usize::from(measured);
        let due = self.drawn.is_none_or(|it| it.elapsed() >= Duration::from_millis(100));
        if self.terminal && !self.quiet && (due || self.done == self.total) {
            self.draw();
        }
    }

    /// Wipes the bar away.
    pub(super) fn finish(mut self) {
        self.close_heading();
        if self.drawn.is_some() {
            write("\r\x1b[K");
        }
    }

    fn close_heading(&mut self) {
        if !self.terminal && !self.quiet && !self.heading.is_empty() {
            write(&format!("{} in {}\n", self.heading, duration(self.heading_since.elapsed().as_secs_f64())));
        }
    }

    fn draw(&mut self) {
        const WIDTH: usize = 24;
        let full = self.done * WIDTH / self.total.max(1);
        let bar: String = (0..WIDTH).map(|i| if i < full { '█' } else { '░' }).collect();
        let left = if self.here == 0 {
            String::new()
        } else {
            let each = self.since.elapsed().as_secs_f64() / self.here as f64;
            format!(", {} left", duration(each * (self.total - self.done) as f64))
        };
        // A line that is longer than the terminal is wide is cut, not wrapped: it is drawn over itself.
        write(&format!(
            "\r\x1b[K\x1b[?7l{bar} block {} of {}{left}  {}\x1b[?7h",
            self.done, self.total, self.heading
        ));
        self.drawn = Some(Instant::now());
    }
}

/// A duration as one says it: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`.
fn duration(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    // A float that is too large for an integer is cast to the largest.
    let whole = seconds.round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {seconds} s"),
        _ => format!("{hours} h {minutes} min"),
    }
}

fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    // A progress bar that cannot be drawn is no reason to end a run.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_are_said_in_the_units_that_matter() {
        for (seconds, text) in [
            (0.04, "0.0 s"),
            (9.94, "9.9 s"),
            (9.95, "10 s"),
            (59.6, "1 min 0 s"),
            (200.0, "3 min 20 s"),
            (7500.0, "2 h 5 min"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }
}
