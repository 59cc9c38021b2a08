use super::experiment::RecordedRun;
use super::markdown::prose;
use crate::analyse::{Caveat, Place};
use std::fmt::{self, Write};

/// Places that a line names; the others are counted, and are all in the evidence.
const NAMED: usize = 3;

/// A line for each kind of caveat and metric.
pub(super) fn write(page: &mut String, run: &RecordedRun) -> fmt::Result {
    let mut groups: Vec<Vec<&Caveat>> = Vec::new();
    let kind = |it: &Caveat| it.place().map(|place| (it.code(), place.metric.clone()));
    for caveat in &run.analysis.caveats {
        let same = |group: &&mut Vec<&Caveat>| kind(caveat).is_some() && kind(group[0]) == kind(caveat);
        match groups.iter_mut().find(same) {
            Some(group) => group.push(caveat),
            None => groups.push(vec![caveat]),
        }
    }
    let sham = run.decision.sham.iter().filter(|it| !it.passed && !it.decisive);
    let lines: Vec<String> =
        groups.iter().map(|it| line(it)).chain(sham.map(|it| format!("sham: {it}"))).collect();
    writeln!(page, "### Caveats\n")?;
    if lines.is_empty() {
        return writeln!(page, "No check found anything.\n");
    }
    for line in lines {
        writeln!(page, "- {}", prose(&line))?;
    }
    writeln!(page)
}

fn line(group: &[&Caveat]) -> String {
    let named = |it: &Caveat| {
        let Some(Place { cell, arm, .. }) = it.place() else { return it.detail() };
        let place = if cell.is_empty() { String::new() } else { format!(" at {cell}") };
        format!("arm `{arm}`{place}: {}", it.detail())
    };
    match group {
        [one] => one.to_string(),
        several => {
            let metric = several[0].place().map_or("", |it| it.metric.as_str());
            let mut parts: Vec<String> = several.iter().take(NAMED).map(|it| named(it)).collect();
            if several.len() > NAMED {
                parts.push(format!("and {} more", several.len() - NAMED));
            }
            format!("`{metric}`: {}", parts.join("; "))
        }
    }
}
