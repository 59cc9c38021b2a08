use super::args::{Format, Global, When};
use super::failure::Failure;
use super::progress::Progress;
use std::io::{self, IsTerminal, Write};

/// The two streams of the program, and how much is said on them.
pub(super) struct Ui {
    pub(super) format: Format,
    quiet: bool,
    verbose: bool,
    color_out: bool,
    color_err: bool,
    terminal: bool,
}

/// What a piece of text is, for its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Bad,
    Open,
    Strong,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Bad => "31",
            Self::Open => "33",
            Self::Strong => "1",
        }
    }
}

impl Ui {
    pub(super) fn new(global: &Global) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let color = |terminal: bool| match global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && !no_color,
        };
        let terminal = io::stderr().is_terminal();
        Self {
            format: global.format,
            quiet: global.quiet,
            verbose: global.verbose,
            color_out: color(io::stdout().is_terminal()),
            color_err: color(terminal),
            terminal,
        }
    }

    /// Prints a part of the result, with a line break.
    ///
    /// A reader who has seen enough closes the pipe; that is no failure.
    pub(super) fn result(&mut self, text: &str) -> Result<(), Failure> {
        match writeln!(io::stdout().lock(), "{text}") {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::chain(super::Exit::Failed, &error))
            }
            _ => Ok(()),
        }
    }

    /// Text of the result, colored if the result is.
    pub(super) fn tone(&self, tone: Tone, text: &str) -> String {
        if self.color_out { paint(tone, text) } else { text.to_owned() }
    }

    /// Says what is going on.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            say(text);
        }
    }

    /// Says what only the curious want to know.
    pub(super) fn detail(&self, text: &str) {
        if self.verbose {
            say(text);
        }
    }

    /// Says what should not be overlooked.
    pub(super) fn warning(&self, text: &str) {
        let head = if self.color_err { paint(Tone::Open, "warning:") } else { "warning:".to_owned() };
        say(&format!("{head} {text}"));
    }

    /// Says why nothing came of it.
    pub(super) fn failure(&self, failure: &Failure) {
        let head = if self.color_err { paint(Tone::Bad, "error:") } else { "error:".to_owned() };
        say(&format!("{head} {failure}"));
        for line in &failure.details {
            say(&format!("  {line}"));
        }
        if let Some(hint) = &failure.hint {
            let head = if self.color_err { paint(Tone::Strong, "hint:") } else { "hint:".to_owned() };
            say(&format!("{head} {hint}"));
        }
    }

    /// Progress through `total` steps: a bar on a terminal, else a line for each heading.
    pub(super) fn progress(&self, total: usize) -> Progress {
        Progress::new(total, self.terminal, self.quiet)
    }
}

fn say(text: &str) {
    // With standard error gone there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn paint(tone: Tone, text: &str) -> String {
    format!("\x1b[{}m{text}\x1b[0m", tone.code())
}
