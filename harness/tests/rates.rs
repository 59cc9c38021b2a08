//! The error rates that `METHODOLOGY.md` documents are those of the program: a small version of its simulations.

#![cfg(feature = "app")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/error_rates/rates/mod.rs"]
mod rates;

use rates::table::Entry;
use std::path::Path;

/// The tables of the document: title without its standard errors, columns, and rows of a name and cells.
struct Documented {
    title: String,
    /// The first standard error of the title, in points.
    error: f64,
    columns: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

fn cells(line: &str) -> Vec<String> {
    line.trim().trim_matches('|').split('|').map(|it| it.trim().to_owned()).collect()
}

/// What a table shows; its standard errors follow from the number of runs.
fn subject(title: &str) -> String {
    let title = title.split("standard error").next().unwrap();
    title.trim_end_matches([' ', '(', ';']).to_owned()
}

fn tables(text: &str) -> Vec<Documented> {
    let mut tables: Vec<Documented> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("**") {
            let error = title.split("± ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
            let title = subject(title.trim_end_matches('*'));
            tables.push(Documented { title, error, columns: Vec::new(), rows: Vec::new() });
        } else if line.starts_with('|') && !line.starts_with("|---") {
            let mut cells = cells(line);
            let table = tables.last_mut().unwrap();
            if table.columns.is_empty() {
                table.columns = cells;
            } else {
                let name = cells.remove(0);
                table.rows.push((name, cells));
            }
        }
    }
    tables
}

fn documented() -> Vec<Documented> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("METHODOLOGY.md");
    let text = std::fs::read_to_string(path).unwrap();
    let parts: Vec<&str> = text.split("<!-- error-rates -->").collect();
    assert_eq!(parts.len(), 3, "the tables stand between two markers");
    tables(parts[1])
}

/// Simulates `runs` experiments for every number of some tables, and finds those that are further from what is documented
/// than chance explains. Of several hundred numbers about one is expected beyond 3 standard errors, and none beyond 4.5.
#[track_caller]
fn check(which: std::ops::Range<usize>, runs: usize) {
    let documented = documented();
    let (mut all, mut far, mut too_far) = (0, Vec::new(), 0);
    for index in which {
        let table = rates::TABLES[index](runs);
        let expected = &documented[index];
        for ((name, entries), (_, cells)) in table.rows.iter().zip(&expected.rows) {
            for ((entry, cell), column) in entries.iter().zip(cells).zip(&table.columns[1..]) {
                let Entry::Share(hits, runs) = entry else {
                    assert_eq!(&entry.to_string(), cell, "{name}, {column}");
                    continue;
                };
                let share = cell.parse::<f64>().unwrap() / 100.0;
                let n = *runs as f64;
                // Two more of each kind, as Agresti and Coull (1998) do, for shares close to 0 and 1.
                let guess = (share * n + 2.0) / (n + 4.0);
                let off = (*hits as f64 / n - share).abs() / (guess * (1.0 - guess) / n).sqrt();
                all += 1;
                too_far += usize::from(off > 4.5);
                if off > 3.0 {
                    far.push(format!("{name}, {column}: {hits} of {runs}, documented {cell} %"));
                }
            }
        }
    }
    assert!(all > 0 && too_far == 0 && far.len() * 100 <= all, "{} of {all}:\n{}", far.len(), far.join("\n"));
}

#[test]
fn the_document_has_the_tables_of_the_program() {
    let documented = documented();
    assert_eq!(documented.len(), rates::TABLES.len());
    for (table, documented) in rates::TABLES.iter().zip(&documented) {
        let table = tables(&table(1).to_string()).remove(0);
        assert_eq!(table.title, documented.title);
        assert_eq!(table.columns, documented.columns, "{}", table.title);
        let names = |it: &Documented| it.rows.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&table), names(documented), "{}", table.title);
    }
}

#[test]
fn intervals_cover_as_documented() {
    check(0..3, 60);
}

#[test]
fn decisions_err_as_documented() {
    check(3..5, 60);
}

#[test]
fn the_planned_n_decides_as_documented() {
    check(5..6, 100);
}

#[test]
fn looks_and_limits_are_as_documented() {
    check(6..8, 40);
}

/// The first number of a row: intervals of normal samples cover 95 %, and decisions on them err no more than allowed.
#[test]
fn what_is_documented_of_normal_samples_is_what_is_promised() {
    let documented = documented();
    for table in &documented[..3] {
        // The bootstrap is known to need more samples.
        for (name, cells) in table.rows.iter().filter(|(name, _)| !name.contains("bootstrap")) {
            let share: f64 = cells[0].parse().unwrap();
            assert!(share >= 95.0 - 3.0 * table.error, "{name}: {share}");
        }
    }
    for table in &documented[3..5] {
        for (name, cells) in &table.rows {
            let allowed: f64 = name.rsplit_once('(').unwrap().1.trim_end_matches(')').parse().unwrap();
            // The title has the error of a share of 2.5 %.
            let error = table.error * (allowed * (100.0 - allowed) / (2.5 * 97.5)).sqrt();
            let share: f64 = cells[0].parse().unwrap();
            assert!(share <= allowed + 3.0 * error.max(0.1), "{name}: {share}");
        }
    }
}
