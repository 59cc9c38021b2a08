use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Pre-registered performance experiments: measured in blocks, kept in Postgres, decided by a frozen rule.
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
pub(super) struct Global {
    /// The project's root [default: the nearest folder upwards that holds `experiments`]
    #[arg(long, global = true, value_name = "DIR", env = "HARNESS_PROJECT")]
    pub(super) project: Option<PathBuf>,

    /// A Postgres server in place of the project's private one; DATABASE_URL is looked at as well
    #[arg(long, global = true, value_name = "URL", env = "HARNESS_DATABASE_URL", hide_env_values = true)]
    pub(super) database_url: Option<String>,

    /// The folder of the Postgres programs, in place of a search
    #[arg(long, global = true, value_name = "DIR", env = "HARNESS_PG_BIN")]
    pub(super) pg_bin: Option<PathBuf>,

    /// Whether Postgres may be fetched when it is not on this machine: 1 or 0
    #[arg(
        long, global = true, value_name = "0|1", env = "HARNESS_PG_AUTOINSTALL", default_value = "1",
        value_parser = clap::builder::BoolishValueParser::new(), action = clap::ArgAction::Set,
        hide_possible_values = true
    )]
    pub(super) pg_autoinstall: bool,

    /// The form of the result
    #[arg(long, global = true, value_enum, default_value_t, env = "HARNESS_FORMAT")]
    pub(super) format: Format,

    /// When to color [also obeyed: NO_COLOR]
    #[arg(long, global = true, value_enum, default_value_t, env = "HARNESS_COLOR")]
    pub(super) color: When,

    /// Print results and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", env = "HARNESS_QUIET",
          value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) quiet: bool,

    /// Say more about what is done
    #[arg(short, long, global = true, env = "HARNESS_VERBOSE", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) verbose: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For a terminal
    #[default]
    Text,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
    /// For pages
    Markdown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// If the output is a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Measure a registered experiment, decide it, and write its ledger and plots
    Run(Run),
    /// Freeze a pre-registration, or amend one
    Register(Register),
    /// Check pre-registrations and report every problem at once
    Check(Check),
    /// List experiments with their state and verdict
    List(List),
    /// Show an experiment's verdict, or one run of it
    Show(Show),
    /// Write ledgers and plots anew from the store
    Render(Render),
    /// Look after the store
    Db(Db),
}

#[derive(Debug, clap::Args)]
pub(super) struct Run {
    /// The experiment: the name of its file in `experiments`, without `.toml`
    pub(super) experiment: String,

    /// A rehearsal: the first cell with 1 warm-up and 5 samples. Registers and stores nothing, gives no verdict
    #[arg(long, conflicts_with_all = ["resume", "gate"], env = "HARNESS_QUICK", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) quick: bool,

    /// Go on with the newest run that was interrupted
    #[arg(long, env = "HARNESS_RESUME", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) resume: bool,

    /// Wait until the host is as quiet as registered, instead of refusing
    #[arg(long, env = "HARNESS_WAIT", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) wait: bool,

    /// Exit with 3 for REJECT and 4 for INCONCLUSIVE
    #[arg(long, env = "HARNESS_GATE", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) gate: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Register {
    /// The experiment
    pub(super) experiment: String,

    /// Register what the file says now as a new version
    #[arg(long, requires = "reason", env = "HARNESS_AMEND", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) amend: bool,

    /// Why the registration is amended; stands in the ledger
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
    #[arg(long, env = "HARNESS_CHECK", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) check: bool,
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
    /// Print the URL for other programs; a private server is kept running until `db stop`
    Url,
    /// Open psql on the store
    Psql,
    /// Stop the private server, unless another process uses it
    Stop,
}
