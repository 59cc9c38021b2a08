use std::fmt;

/// What stands in a cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Entry {
    /// What does not exist, as the deviation of a distribution without one.
    Nothing,
    /// A number of samples.
    Count(usize),
    /// How many of how many simulated experiments.
    Share(usize, usize),
}

impl Entry {
    /// Counts answers; those that are undefined do not count.
    pub(super) fn of(answers: impl Iterator<Item = Option<bool>>) -> Self {
        let (mut hits, mut all) = (0, 0);
        for answer in answers.flatten() {
            all += 1;
            hits += usize::from(answer);
        }
        if all == 0 { Self::Nothing } else { Self::Share(hits, all) }
    }

    /// Turns the answers of every experiment to the same questions into one entry a question.
    pub(super) fn columns(answers: &[Vec<Option<bool>>]) -> Vec<Self> {
        let questions = answers.first().map_or(0, Vec::len);
        (0..questions).map(|it| Self::of(answers.iter().map(|answer| answer[it]))).collect()
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("–"),
            Self::Count(n) => write!(f, "{n}"),
            Self::Share(hits, all) => write!(f, "{:.1}", 100.0 * *hits as f64 / *all as f64),
        }
    }
}

/// A table with its title, as markdown.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// What it shows, and what its numbers should be.
    pub(crate) title: String,
    /// The first names the rows.
    pub(crate) columns: Vec<String>,
    /// Name and entries.
    pub(crate) rows: Vec<(String, Vec<Entry>)>,
}

impl Table {
    /// A table of one column a simulation: `entries[column][row]`.
    pub(super) fn by_columns(title: String, of: &str, rows: &[&str], columns: &[(&str, Vec<Entry>)]) -> Self {
        let names = columns.iter().map(|(name, _)| *name);
        let row = |(index, name): (usize, &&str)| {
            ((*name).to_owned(), columns.iter().map(|(_, entries)| entries[index]).collect())
        };
        Self {
            title,
            columns: std::iter::once(of).chain(names).map(str::to_owned).collect(),
            rows: rows.iter().enumerate().map(row).collect(),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "**{}**\n", self.title)?;
        writeln!(f, "| {} |", self.columns.join(" | "))?;
        writeln!(f, "|---|{}", "---:|".repeat(self.columns.len() - 1))?;
        for (name, entries) in &self.rows {
            let entries: Vec<String> = entries.iter().map(ToString::to_string).collect();
            writeln!(f, "| {name} | {} |", entries.join(" | "))?;
        }
        Ok(())
    }
}

/// One standard error of a share, in points.
pub(super) fn error(share: f64, runs: usize) -> String {
    format!("{:.2}", 100.0 * (share * (1.0 - share) / runs as f64).sqrt())
}
