//! How an experiment is measured and decided, as its registration says.

use super::looks;
use super::markdown::{Align, Table, code, escape};
use crate::prereg::{Commands, Hypothesis, Launch, Prereg, Stopping, WorkResult};
use crate::vocab::{Clock, Correction, Mode, Order, Process, Replicate, Scalar, Test};
use std::fmt::{self, Write};

pub(super) fn design(page: &mut String, prereg: &Prereg) -> fmt::Result {
    writeln!(page, "### Design\n")?;
    let design = &prereg.design;
    let order = match design.order {
        Order::RandomBlocks => "every block in a new random order",
        Order::Abba => "blocks in the registered order and its reverse, in turn",
        Order::Sequential => "one arm after the other",
    };
    let is_plain = matches!(prereg.worker.launch, Launch::Plain(_));
    let process = match (design.process, design.unit()) {
        (_, Replicate::Build) => format!(
            "{} builds of each arm, each linked in another order and measured in {}: the build is the unit of replication, all \
             below is computed from the means of the {} samples of each",
            design.builds,
            if is_plain { "processes of its own, one a sample" } else { "a process of its own" },
            design.blocks_a_process(),
        ),
        _ if is_plain => "a process for every sample".to_owned(),
        (Process::PerArm, Replicate::Block) => "one worker process for each arm of a cell".to_owned(),
        (Process::PerArm, Replicate::Process) => format!(
            "{} worker processes for each arm of a cell, one after the other: the process is the unit of replication, all below \
             is computed from the means of the {} samples of each",
            design.processes,
            design.blocks_a_process(),
        ),
        (Process::PerBlock, _) => "a fresh worker process for every sample".to_owned(),
    };
    let of_each = match design.unit() {
        Replicate::Block => "",
        Replicate::Process => " of each process",
        Replicate::Build => " of each build",
    };
    let process = match design.padding {
        0 => process,
        most => format!(
            "{process}; every process's environment is padded by a random number of up to {most} bytes"
        ),
    };
    let process = match design.mode {
        Mode::Turns => process,
        Mode::Duet => {
            format!(
                "both arms at once, each bound to a processor, sides swapped from block to block; {process}"
            )
        }
    };
    let warmups = match design.warmups {
        0 => "without warm-ups".to_owned(),
        1 => format!("after 1 warm-up{of_each}"),
        n => format!("after {n} warm-ups{of_each}"),
    };
    let slices = match design.slices {
        1 => String::new(),
        n => format!(", each the mean of {n} slices that take turns with those of the other arms"),
    };
    let clock = match design.clock {
        // Each metric has a probe.
        _ if is_plain => "",
        Clock::Wall => "; timed by wall clock",
        Clock::ThreadCpu => "; timed by CPU time of the thread",
    };
    let most = if design.looks.is_some() { "At most " } else { "" };
    let looks = design.looks.as_ref().map_or_else(String::new, |it| {
        let after: Vec<_> = design.stops().iter().map(u32::to_string).collect();
        let after = match after.as_slice() {
            [first, second, .., last] if after.len() > 20 => format!("{first}, {second}, … {last}"),
            all => all.join(", "),
        };
        format!(" Looks after {after} blocks, {}.", looks::registered(it))
    });
    writeln!(
        page,
        "{most}{} samples of each arm and cell{slices}, {warmups}; {order}; {process}{clock}; seed {}.{looks}{}\n",
        design.samples,
        design.seed,
        rule(prereg),
    )?;
    let mut table = Table::new([("arm", Align::Left), ("role", Align::Left), ("parameters", Align::Left)]);
    for arm in &prereg.arms {
        let mut parts: Vec<String> =
            arm.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        parts.extend(arm.env.iter().map(|(name, value)| format!("${name} = {value}")));
        parts.extend(arm.command.iter().map(|it| it.join(" ")));
        parts.extend(arm.git.iter().map(|it| format!("git {it}")));
        parts.extend(arm.build.iter().map(|it| format!("built by {}", it.join(" "))));
        table.row([arm.name.as_str().into(), arm.role.as_str().into(), parts.join(", ").into()]);
    }
    writeln!(page, "{table}")?;
    let worker = match &prereg.worker.launch {
        Launch::Package(package) => {
            let mut text = format!("cargo package {}", code(&package.name));
            if !package.features.is_empty() {
                text.push_str(&format!(" with features {}", code(&package.features.join(", "))));
            }
            text.extend(package.profile.iter().map(|it| format!(" in profile {}", code(it))));
            text
        }
        Launch::Command(command) => format!("command {}", code(&command.join(" "))),
        Launch::Plain(commands) => return writeln!(page, "{}\n", plain(commands, &params(prereg))),
    };
    writeln!(
        page,
        "Worker: {worker}, system {}. Parameters: {}.\n",
        code(&prereg.worker.system),
        escape(&params(prereg))
    )
}

fn params(prereg: &Prereg) -> String {
    let params = prereg.params.iter().map(|(name, values)| {
        let values: Vec<_> = values.iter().map(Scalar::to_string).collect();
        format!("{name} = {}", values.join(", "))
    });
    let params: Vec<_> = params.collect();
    if params.is_empty() { "none".to_owned() } else { params.join("; ") }
}

/// How plain commands were run, in a sentence.
fn plain(commands: &Commands, params: &str) -> String {
    let mut parts = Vec::new();
    if !commands.command.is_empty() {
        parts.push(code(&commands.command.join(" ")).to_string());
    }
    if commands.shell {
        parts.push("each in a shell".to_owned());
    }
    parts.extend(commands.dir.iter().map(|it| format!("in {}", code(it))));
    parts.extend(commands.stdin.iter().map(|it| format!("reading {}", code(it))));
    for (when, steps) in [("before", &commands.before), ("after", &commands.after)] {
        parts.extend(
            steps
                .each()
                .map(|(scope, it)| format!("{when} every {scope} {} (not timed)", code(&it.join(" ")))),
        );
    }
    parts.push(
        match &commands.result {
            WorkResult::Unchecked => "what the arms answer is not compared",
            WorkResult::Stdout => "the arms must print the same",
            WorkResult::Files(_) => "the arms must write the same files",
        }
        .to_owned(),
    );
    format!("Plain commands: {}. Parameters: {}.", parts.join("; "), escape(params))
}

/// How hypotheses and guards are decided, in sentences.
fn rule(prereg: &Prereg) -> String {
    let decision = &prereg.decision;
    let mut text = String::new();
    let cells = prereg.cells();
    let tests = |it: &Hypothesis| cells.iter().filter(|cell| cell.matches(&it.condition)).count();
    let family: usize = prereg.hypotheses.iter().map(tests).sum();
    if family > 0 {
        let stopping = prereg.design.looks.as_ref().map(|it| it.stopping);
        let test = match decision.test {
            _ if stopping == Some(Stopping::SignEProcess) => "the sign e-process",
            Test::Welch => "Welch's t",
            Test::MannWhitney => "Mann and Whitney's U",
            Test::PairedT => "Student's t of the differences",
            Test::Wilcoxon => "Wilcoxon's signed ranks",
            Test::Bootstrap => "the bootstrap",
        };
        let correction = match decision.correction {
            _ if family == 1 => "",
            Correction::Holm => ", corrected after Holm",
            Correction::BenjaminiHochberg => ", corrected after Benjamini and Hochberg",
            Correction::None => ", not corrected",
        };
        let of = if family == 1 { String::new() } else { format!(" over a family of {family}") };
        text.push_str(&format!(" Hypotheses: {test} at α = {}{of}{correction}.", decision.alpha));
    }
    if !prereg.guards.is_empty() {
        text.push_str(&format!(" Guards: each against its margin at α = {}, one-sided.", decision.alpha));
    }
    text
}
