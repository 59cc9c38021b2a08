use super::secret::Secret;
use super::values::{duration, finite, run_id, switch};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Pre-registered performance experiments, kept in Postgres and decided by a frozen rule.
#[derive(Debug, Parser)]
#[command(name = "harness", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 done, 1 failed, 2 usage or invalid file, 3 REJECT and 4 INCONCLUSIVE (both \
                        only with --gate), 5 registration or ledger integrity broken, 6 host not fit."
)]
pub struct Args {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub(super) struct Global {
    /// The project's folder [default: the nearest one, here or upwards, that has a folder `experiments`]
    #[arg(long, global = true, value_name = "DIR", env = "HARNESS_PROJECT")]
    pub(super) project: Option<PathBuf>,

    /// A Postgres server in place of the project's private one [next: DATABASE_URL]
    #[arg(long, global = true, value_name = "URL", env = "HARNESS_DATABASE_URL", hide_env_values = true)]
    pub(super) database_url: Option<Secret>,

    /// Whether a password was typed where every user of this machine can read it.
    #[arg(skip)]
    pub(super) password_typed: bool,

    /// The folder of the Postgres programs, in place of a search
    #[arg(long, global = true, value_name = "DIR", env = "HARNESS_PG_BIN")]
    pub(super) pg_bin: Option<PathBuf>,

    /// Whether Postgres may be fetched when it is not on this machine: 1 or 0
    #[arg(
        long, global = true, value_name = "0|1", env = "HARNESS_PG_AUTOINSTALL", default_value = "1",
        value_parser = switch, action = clap::ArgAction::Set
    )]
    pub(super) pg_autoinstall: bool,

    /// The form of the result
    #[arg(long, global = true, value_enum, default_value_t, env = "HARNESS_FORMAT")]
    pub(super) format: Format,

    /// When to color [also obeyed: NO_COLOR]
    #[arg(long, global = true, value_enum, default_value_t, env = "HARNESS_COLOR")]
    pub(super) color: When,

    /// Print nothing but results, warnings and errors
    #[arg(short, long, global = true, env = "HARNESS_QUIET", value_parser = switch)]
    pub(super) quiet: bool,

    /// Tell more of what is done
    #[arg(short, long, global = true, env = "HARNESS_VERBOSE", value_parser = switch)]
    pub(super) verbose: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    #[default]
    Text,
    Json,
    Csv,
    Markdown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make the folders of a project
    Init,
    /// Write a pre-registration that compares two commands
    New(super::new::New),
    /// Measure an experiment (registering it first), decide it, write its ledger and plots
    Run(Run),
    /// Measure accepted experiments again: is each claim standing, lost or undecided?
    Recheck(Recheck),
    /// Freeze a pre-registration without measuring yet, or amend one
    Register(Register),
    /// Check pre-registrations and report every problem at once
    Check(Check),
    /// List experiments with their state and verdict
    List(List),
    /// Show the verdict of an experiment, or of one of its runs
    Show(Show),
    /// Write ledgers and plots anew from the store
    Render(Render),
    /// Check that everything on record holds: digests, chain, verdicts, ledgers and plots
    Verify(Verify),
    /// Set a run aside with a reason, for all to see; nothing is deleted
    Invalidate(Invalidate),
    /// Load evidence of another project or store
    Import(Import),
    /// Write a run as evidence, to be imported elsewhere
    Export(Export),
    /// Tell the power of an experiment's n, and the n that it needs, from a run or a pilot
    Power(Power),
    /// Compare two runs, arms or files of samples; exploratory, without a verdict
    Compare(Compare),
    /// Recompute the claims of a published table from its own numbers
    Audit(Audit),
    /// Measure an experiment's control against itself: this host's false accepts, noise floor and power
    Calibrate(Calibrate),
    /// Tell what makes this machine unfit for measuring, and what to do about it; nothing is changed
    Doctor(Doctor),
    /// Look into the store, which is a Postgres database
    Db(Db),
}

#[derive(Debug, clap::Args)]
pub(super) struct Run {
    /// The experiment: the name of its file in `experiments`, without `.toml`
    pub(super) experiment: String,

    /// Rehearse: 1 warm-up and 5 samples of the first cell; nothing is registered or stored, no verdict
    #[arg(long, conflicts_with_all = ["resume", "gate"], env = "HARNESS_QUICK", value_parser = switch)]
    pub(super) quick: bool,

    /// Go on with the newest run of the experiment that was interrupted
    #[arg(long, env = "HARNESS_RESUME", value_parser = switch)]
    pub(super) resume: bool,

    /// Wait for what [environment] registers, up to 30 minutes, instead of refusing a busy host
    #[arg(long, env = "HARNESS_WAIT", value_parser = switch)]
    pub(super) wait: bool,

    /// Exit with 3 on REJECT and 4 on INCONCLUSIVE; without it, only INVALID is a failure
    #[arg(long, env = "HARNESS_GATE", value_parser = switch)]
    pub(super) gate: bool,
}

/// Exits with 3 if a claim is lost, else with 4 if one is undecided.
#[derive(Debug, clap::Args)]
pub(super) struct Recheck {
    /// Accepted experiments [default: all], the cheapest first
    pub(super) experiments: Vec<String>,

    /// Only those of one ledger
    #[arg(long, value_name = "NAME", conflicts_with = "experiments", env = "HARNESS_LEDGER")]
    pub(super) ledger: Option<String>,

    /// Stop before an experiment that would end later than this, by the time of the run that decided it; such as 10m
    #[arg(long, value_name = "TIME", env = "HARNESS_BUDGET", value_parser = duration)]
    pub(super) budget: Option<jiff::SignedDuration>,

    /// Wait for the registered max_load, up to 30 minutes, instead of refusing a busy host
    #[arg(long, env = "HARNESS_WAIT", value_parser = switch)]
    pub(super) wait: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Register {
    /// The experiment: the name of its file in `experiments`, without `.toml`
    pub(super) experiment: String,

    /// Register what the file says now as a new version
    #[arg(long, requires = "reason", env = "HARNESS_AMEND", value_parser = switch)]
    pub(super) amend: bool,

    /// Why it is amended; the ledger shows it
    #[arg(long, requires = "amend", value_name = "TEXT", env = "HARNESS_REASON")]
    pub(super) reason: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// Experiments [default: all]
    pub(super) experiments: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// Only those of one ledger
    #[arg(long, value_name = "NAME", env = "HARNESS_LEDGER")]
    pub(super) ledger: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// An experiment, or the id of a run
    pub(super) subject: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct Render {
    /// Ledgers [default: all]
    pub(super) ledgers: Vec<String>,

    /// Write nothing; fail if a file is not what it would become
    #[arg(long, env = "HARNESS_CHECK", value_parser = switch)]
    pub(super) check: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// One experiment, with its ledger [default: all]
    pub(super) experiment: Option<String>,

    /// Only the experiments of one ledger
    #[arg(long, value_name = "NAME", conflicts_with = "experiment", env = "HARNESS_LEDGER")]
    pub(super) ledger: Option<String>,

    /// Check the files in ledgers/evidence alone, without any database
    #[arg(long, env = "HARNESS_EVIDENCE", value_parser = switch)]
    pub(super) evidence: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Invalidate {
    /// The run
    #[arg(value_parser = run_id)]
    pub(super) run: uuid::Uuid,

    /// Why; the ledger shows it
    #[arg(long, value_name = "TEXT", env = "HARNESS_REASON")]
    pub(super) reason: String,

    /// Take it back: the run counts again
    #[arg(long, env = "HARNESS_UNDO", value_parser = switch)]
    pub(super) undo: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Import {
    /// A run (run-<id>.ndjson.gz), the folder of an experiment, or a folder of such folders
    pub(super) path: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// The run
    #[arg(value_parser = run_id)]
    pub(super) run: uuid::Uuid,

    /// The folder to write to [default: the project's ledgers/evidence]
    #[arg(long, value_name = "DIR", env = "HARNESS_TO")]
    pub(super) to: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Power {
    /// The experiment: the name of its file in `experiments`, without `.toml`
    pub(super) experiment: String,

    /// Plan with the spread of this run [default: the newest complete one of the experiment]
    #[arg(long, value_name = "RUN", conflicts_with = "pilot", env = "HARNESS_FROM", value_parser = run_id)]
    pub(super) from: Option<uuid::Uuid>,

    /// Plan with the spread of a file: CSV with a column `arm` and one for each metric, or JSON
    #[arg(long, value_name = "FILE", env = "HARNESS_PILOT")]
    pub(super) pilot: Option<PathBuf>,

    /// Also plan for this true gain, in percent of the control's mean
    #[arg(long, value_name = "PCT", env = "HARNESS_GAIN", allow_negative_numbers = true, value_parser = finite)]
    pub(super) gain: Option<f64>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Compare {
    /// What is compared with: a run's id, an experiment (its deciding run) or a file; `:ARM` picks an arm
    #[arg(value_name = "A")]
    pub(super) baseline: String,

    /// What is compared, in the same words
    #[arg(value_name = "B")]
    pub(super) candidate: String,

    /// The unit of numbers in files that name none
    #[arg(long, value_name = "UNIT", env = "HARNESS_UNIT", value_parser = crate::vocab::Unit::parse)]
    pub(super) unit: Option<crate::vocab::Unit>,

    /// Which way the metrics of files improve [default: higher for rates, else lower]
    #[arg(long, value_enum, env = "HARNESS_BETTER")]
    pub(super) better: Option<Better>,

    /// The decimal sign in CSV and plain files
    #[arg(long, value_enum, default_value_t, env = "HARNESS_DECIMAL")]
    pub(super) decimal: Sign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Better {
    Lower,
    Higher,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Sign {
    #[default]
    Point,
    Comma,
}

#[derive(Debug, clap::Args)]
pub(super) struct Audit {
    /// A table with its claims (TOML), such as experiments/audits/loading.toml
    pub(super) file: PathBuf,

    /// Write the page of the audit, ledgers/audit-<FILE>.md
    #[arg(long, env = "HARNESS_WRITE", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) write: bool,

    /// Another name for the page, ledgers/<NAME>.md
    #[arg(long, value_name = "NAME", env = "HARNESS_PAGE")]
    pub(super) page: Option<String>,

    /// Write nothing; fail if the page is not what it would become
    #[arg(long, conflicts_with = "write", env = "HARNESS_CHECK", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) check: bool,

    /// Exit with 3 if a claim does not follow
    #[arg(long, env = "HARNESS_GATE", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) gate: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Calibrate {
    /// The experiment: the name of its file in `experiments`, without `.toml`
    pub(super) experiment: String,

    /// How often the control is compared with itself, in each cell
    #[arg(long, value_name = "N", default_value_t = 100, env = "HARNESS_COMPARISONS",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) comparisons: u32,

    /// Samples of each copy; other numbers than the registered one are shown and not kept
    #[arg(long, value_name = "N", env = "HARNESS_SAMPLES", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(super) samples: Option<u32>,

    /// Wait for what [environment] registers, up to 30 minutes, instead of refusing a busy host
    #[arg(long, env = "HARNESS_WAIT", value_parser = switch)]
    pub(super) wait: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Doctor {
    /// Exit with 6 if something disturbs measuring
    #[arg(long, env = "HARNESS_GATE", value_parser = switch)]
    pub(super) gate: bool,

    /// Read the kernel's files, proc and sys, below this folder, such as a copy of another machine's
    #[arg(long, value_name = "DIR", env = "HARNESS_ROOT")]
    pub(super) root: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Db {
    #[command(subcommand)]
    pub(super) action: DbAction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(super) enum DbAction {
    /// Where the store is, and what is in it
    Status,
    /// Print its URL for other programs, and keep a private server running until `db stop`
    Url,
    /// Open psql on it; SQL can come from standard input
    Psql,
    /// Load the runs that the spool kept while the store was away
    Sync,
    /// Stop the private server, unless another process uses it
    Stop,
    /// Make the schema on a shared server, or bring it up; private ones do so by themselves
    Migrate,
    /// Make harness_reader, harness_writer and harness_admin on a shared server, with their rights
    Roles(DbRoles),
    /// Bring the private store to the newest version of Postgres on this machine; the old data are kept
    Upgrade,
    /// Fetch Postgres for this user, for machines that have none
    Install,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub(super) struct DbRoles {
    /// Print the SQL for somebody who may create roles, and do nothing
    #[arg(long, env = "HARNESS_SQL", value_parser = switch)]
    pub(super) sql: bool,
}

impl Args {
    /// The arguments of this process and its environment.
    pub(super) fn of_process() -> Result<Self, clap::Error> {
        let matches = without_empty_variables(Self::command()).try_get_matches()?;
        let mut args = Self::from_arg_matches(&matches)?;
        // What is typed now counts more than what the environment says for every day.
        let typed = |it: &str| {
            let mut level = Some(&matches);
            std::iter::from_fn(|| {
                let here = level?;
                level = here.subcommand().map(|(_, it)| it);
                Some(here)
            })
            .any(|matches| {
                matches.try_contains_id(it).is_ok()
                    && matches.value_source(it) == Some(ValueSource::CommandLine)
            })
        };
        args.global.password_typed = typed("database_url")
            && args.global.database_url.as_ref().is_some_and(|it| crate::store::password_of(&it.0).is_some());
        match (typed("quiet"), typed("verbose")) {
            (true, true) => {
                return Err(Self::command().error(
                    ErrorKind::ArgumentConflict,
                    "the arguments '--quiet' and '--verbose' exclude each other",
                ));
            }
            (false, true) => args.global.quiet = false,
            (true, false) => args.global.verbose = false,
            (false, false) => args.global.verbose &= !args.global.quiet,
        }
        Ok(args)
    }
}

/// A variable that is set to nothing is not set. The store's alone keeps its meaning: none but the private one.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| match arg.get_env() {
        Some(name)
            if name != "HARNESS_DATABASE_URL" && std::env::var_os(name).is_some_and(|it| it.is_empty()) =>
        {
            arg.env(None)
        }
        _ => arg,
    });
    command.mut_subcommands(without_empty_variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(command: &clap::Command, visit: &mut impl FnMut(&clap::Arg)) {
        command.get_arguments().for_each(&mut *visit);
        command.get_subcommands().for_each(|it| each(it, visit));
    }

    #[test]
    fn the_definition_holds() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_option_has_a_variable() {
        each(&Args::command(), &mut |arg| {
            let Some(long) = arg.get_long().filter(|it| !["help", "version"].contains(it)) else { return };
            let variable = format!("HARNESS_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(arg.get_env().and_then(|it| it.to_str()), Some(variable.as_str()), "--{long}");
        });
    }

    #[test]
    fn every_argument_is_explained_in_one_line() {
        each(&Args::command(), &mut |arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(
                !help.is_empty() && !help.ends_with('.') && help.len() <= 110,
                "{}: {help}",
                arg.get_id()
            );
        });
    }

    #[test]
    fn switches_in_variables_are_read_as_people_write_them() {
        for (text, expected) in
            [("1", true), ("YES", true), ("on", true), ("0", false), ("", false), ("no", false)]
        {
            assert_eq!(switch(text), Ok(expected), "{text}");
        }
        assert!(switch("2").is_err());
    }
}
