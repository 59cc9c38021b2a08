//! `harness init` and `harness new`: a project, and an experiment of two commands.

use super::failure::{Exit, Failure};
use super::project::Project;
use super::ui::Ui;
use crate::prereg;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct New {
    /// Its name: lower-case letters, digits, `.`, `_` and `-`
    experiment: String,

    /// The command in question; quotes, pipes and the like make it one for a shell
    #[arg(long, value_name = "COMMAND", env = "HARNESS_COMMAND")]
    command: String,

    /// The command that it is compared with
    #[arg(long, value_name = "COMMAND", env = "HARNESS_AGAINST")]
    against: String,
}

/// Makes the folders of a project.
pub(super) fn init(given: Option<&Path>, ui: &Ui) -> Result<Exit, Failure> {
    let root = given.map_or_else(|| PathBuf::from("."), Path::to_owned);
    let folder = root.join("experiments");
    if folder.is_dir() {
        ui.note(&format!("`{}` is a project already", root.display()));
        return Ok(Exit::Done);
    }
    std::fs::create_dir_all(&folder).map_err(|it| {
        Failure::chain(Exit::Failed, &it).context(&format!("failed to make `{}`", folder.display()))
    })?;
    let project = Project::find(Some(&root))?;
    project.state()?;
    ui.note("made `experiments`, for pre-registrations, and `.harness`, which is nothing to commit");
    ui.note("next: harness new faster --command './new' --against './old'");
    Ok(Exit::Done)
}

/// Writes a pre-registration of two commands.
pub(super) fn run(args: &New, project: &Project, ui: &Ui) -> Result<Exit, Failure> {
    let id = project.id(&args.experiment);
    let shell = [&args.command, &args.against].iter().any(|it| needs_shell(it));
    let text = text(id, &args.command, &args.against, shell);
    let name = format!("experiments/{id}.toml");
    // What is written is valid, or was asked for with something that is not.
    prereg::parse(&text, &name).map_err(|it| Failure {
        details: it.all().iter().map(|it| it.message.clone()).collect(),
        ..Failure::new(Exit::Usage, format!("no pre-registration of `{id}` can be written"))
    })?;
    let path = project.root.join(&name);
    let written = std::fs::File::create_new(&path).and_then(|mut it| it.write_all(text.as_bytes()));
    written.map_err(|it| {
        let failure = Failure::chain(Exit::Usage, &it).context(&format!("failed to write `{name}`"));
        match it.kind() {
            std::io::ErrorKind::AlreadyExists => failure.hint("choose another name, or edit the file"),
            _ => failure,
        }
    })?;
    ui.note(&format!("wrote {name}: read it, say what you expect, then: harness run {id}"));
    Ok(Exit::Done)
}

/// Whether a command is more than words between spaces.
fn needs_shell(command: &str) -> bool {
    command.contains(|it: char| "'\"\\$`|&;<>()*?[]~#\n\t".contains(it))
}

fn text(id: &str, command: &str, against: &str, shell: bool) -> String {
    let quoted = |it: &str| serde_json::Value::from(it).to_string();
    let line = |command: &str| {
        let words: Vec<String> = match shell {
            true => vec![quoted(command)],
            false => command.split_whitespace().map(quoted).collect(),
        };
        format!("[{}]", words.join(", "))
    };
    let title = quoted(&format!("{command} against {against}"));
    let claim = quoted(&format!("{command} takes less time than {against}."));
    let run = if shell {
        "[commands]\nshell  = true              # each command is one text for `sh -c`\n\n"
    } else {
        ""
    };
    format!(
        r#"id     = "{id}"
title  = {title}
ledger = "commands"          # ledgers/commands.md
claim  = {claim}

{run}[arms.old]
role    = "control"
command = {old}
[arms.new]
role    = "treatment"
command = {new}

# Every block runs each command once, in a random order: what slows the machine down falls on both.
[design]
warmups = 3
samples = 100                # blocks; `harness power {id}` says what they can show

[metrics.wall]
unit   = "ms"
better = "lower"
probe  = "wall"              # also user, system, cpu, peak-rss, minor-faults, ...; or a number that it prints

[[hypotheses]]
id         = "faster"
metric     = "wall"
margin     = 0.0             # the smallest gain worth having: 0.05 is 5 %
min_effect = 0.0             # |d| is of single runs; blocks see gains far below their spread

# Signed ranks of the differences within blocks: of a true 2 % in 300 blocks they find nearly every one, where
# Welch's t of all runs finds half, since the level of the machine is in both commands of a block.
[decision]
test = "wilcoxon"
"#,
        old = line(against),
        new = line(command),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_valid() {
        let commands =
            [("./a --fast", "./b", false), ("a 'b c' | d", "x", true), ("echo \"é\\n\" > {n}", "true", true)];
        for (command, against, shell) in commands {
            assert_eq!(needs_shell(command), shell, "{command}");
            let text = text("faster", command, against, shell);
            let prereg =
                prereg::parse(&text, "experiments/faster.toml").unwrap_or_else(|it| panic!("{it}\n{text}"));
            assert_eq!(prereg.arms[1].command.as_ref().unwrap().len(), if shell { 1 } else { 2 });
        }
    }
}
