use super::{Arm, Prereg};
use crate::vocab::{Cell, Scalar};

/// How the arms' plain commands are run: they speak no protocol, probes read what they do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// Program and arguments of the arms that have none of their own; may be empty.
    pub command: Vec<String>,
    /// Whether every command is one text for `sh -c`.
    pub shell: bool,
    /// The folder they work in, relative to the project's root.
    pub dir: Option<String>,
    /// The file that is their standard input, relative to the project's root. `None`: nothing.
    pub stdin: Option<String>,
    /// Where their standard output goes.
    pub output: Output,
    /// How many bytes of a captured output are kept to read numbers from.
    pub capture_limit: u32,
    /// What identifies the result of the work.
    pub result: WorkResult,
    /// The exit codes of a command that did its work.
    pub exit_codes: Vec<u8>,
    /// What is run before, untimed.
    pub before: Steps,
    /// What is run after, untimed.
    pub after: Steps,
}

/// Where standard output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Nowhere.
    Null,
    /// To the harness, which reads it while the command runs.
    Capture,
    /// To a file, written anew for each sample; relative to the project's root.
    File(String),
}

/// What identifies the result of a command's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkResult {
    /// Nothing: that the arms do the same is not checked.
    Unchecked,
    /// SHA-256 of the captured standard output.
    Stdout,
    /// SHA-256 of files that it writes, relative to the project's root.
    Files(Vec<String>),
}

/// Untimed commands around the timed one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Once a run; parameters are not filled in.
    pub run: Option<Vec<String>>,
    /// Once a block; parameters of the cell are filled in.
    pub block: Option<Vec<String>>,
    /// Once a sample; parameters of cell and arm are filled in, and the arm's variables are set.
    pub sample: Option<Vec<String>>,
}

impl Steps {
    /// Each that is there, with its name.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
        let steps = [("run", &self.run), ("block", &self.block), ("sample", &self.sample)];
        steps.into_iter().filter_map(|(name, it)| Some((name, it.as_ref()?)))
    }
}

impl Commands {
    /// The command of `arm`.
    pub fn of<'a>(&'a self, arm: &'a Arm) -> &'a [String] {
        arm.command.as_deref().unwrap_or(&self.command)
    }
}

impl Prereg {
    /// Parameters of `cell` that every arm has.
    pub fn params_of_cell(&self, cell: &Cell) -> Vec<(String, Scalar)> {
        let value = |(name, values): &(String, Vec<Scalar>)| {
            let value = cell.get(name).or(values.first().filter(|_| values.len() == 1))?;
            Some((name.clone(), value.clone()))
        };
        self.params.iter().filter_map(value).collect()
    }
}

/// `text` with every `{name}` of a parameter replaced by its value; other braces stay.
///
/// What a value brings in is not looked at again.
pub fn fill_in(text: &str, params: &[(String, Scalar)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, braced) = rest.split_at(open);
        filled.push_str(before);
        let found = params.iter().find(|(name, _)| {
            braced[1..].strip_prefix(name.as_str()).is_some_and(|after| after.starts_with('}'))
        });
        match found {
            Some((name, value)) => {
                filled.push_str(&value.to_string());
                rest = &braced[name.len() + 2..];
            }
            None => {
                filled.push('{');
                rest = &braced[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parameters_are_filled_in_and_only_once() {
        let params = [("n".to_owned(), Scalar::Int(7)), ("text".to_owned(), Scalar::Text("{n}".to_owned()))];
        let cases = [
            ("--n={n}", "--n=7"),
            ("{n}{n}", "77"),
            ("{text}", "{n}"),
            ("{print $1} {m} {n", "{print $1} {m} {n"),
            ("{{n}}", "{7}"),
            ("é{n}é", "é7é"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(fill_in(text, &params), expected);
        }
    }
}
