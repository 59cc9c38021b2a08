use super::check::{Check, Subject};
use super::difference::cut;
use crate::render::{self, Experiment};
use std::path::Path;

/// Compares a ledger and its plots with what these experiments, in the ledger's order, render.
pub fn pages(root: &Path, name: &str, experiments: &[Experiment]) -> Vec<Check> {
    let mut checks = Subject::new(&format!("ledger {name}"));
    let measured = experiments.iter().any(|it| it.runs.iter().any(render::RecordedRun::is_over));
    let (pages, problems) = render::pages(name, experiments);
    for problem in problems {
        checks.note("plots", problem);
    }
    for page in pages {
        match std::fs::read(root.join(&page.path)) {
            Ok(bytes) if bytes == page.text.as_bytes() => {
                checks.holds(page.path, "as rendered");
            }
            Ok(bytes) => {
                let difference = first_line(&String::from_utf8_lossy(&bytes), &page.text);
                checks.fails(page.path, difference);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !measured => {
                checks.note(page.path, "it is not written yet");
            }
            Err(error) => checks.fails(page.path, format!("it cannot be read: {error}")),
        }
    }
    checks.done()
}

/// Where a file leaves what is rendered.
fn first_line(file: &str, rendered: &str) -> String {
    let (mut is, mut should) = (file.split('\n'), rendered.split('\n'));
    for number in 1.. {
        match (is.next(), should.next()) {
            (Some(is), Some(should)) if is == should => {}
            (None, None) => break,
            (is, should) => {
                let word = |it: Option<&str>| {
                    it.map_or_else(|| "nothing".to_owned(), |it| format!("`{}`", cut(it.trim())))
                };
                return format!("line {number} is {}, rendered is {}", word(is), word(should));
            }
        }
    }
    "its bytes are not those that are rendered".to_owned()
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn the_first_line_that_differs_is_shown() {
        assert_eq!(first_line("a\nb\n", "a\nc\n"), "line 2 is `b`, rendered is `c`");
        assert_eq!(first_line("a", "a\nc"), "line 2 is nothing, rendered is `c`");
    }
}
