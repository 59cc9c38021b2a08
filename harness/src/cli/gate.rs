//! The gate before a run: the host is as registered, or nothing is measured.

use super::failure::{Exit, Failure};
use super::project::Project;
use super::scratch::Scratch;
use super::ui::Ui;
use crate::host::{self, Kernel, Moment};
use crate::measure::{self, Interrupt, Program};
use crate::prereg::{Environment, Pin, Prereg};
use std::time::{Duration, Instant};

/// How long `--wait` waits for a quiet host.
const WAIT: Duration = Duration::from_secs(30 * 60);
/// Between two looks while waiting.
const PAUSE: Duration = Duration::from_secs(5);
/// Over which steal and pressure are measured.
const WINDOW: Duration = Duration::from_secs(1);

/// Refuses, or waits for, a host that is not as registered.
pub(super) fn gate(prereg: &Prereg, wait: bool, interrupt: &Interrupt, ui: &Ui) -> Result<(), Failure> {
    let rule = &prereg.environment;
    let kernel = Kernel::default();
    settled(rule, &kernel)?;
    if rule.max_load.is_some() && host::load_average().is_none() {
        ui.warning("the registered limit of the load cannot be checked: the host keeps no load average");
    }
    let start = Instant::now();
    let mut told = false;
    loop {
        let problems = busy(rule, &kernel)?;
        if problems.is_empty() {
            return Ok(());
        }
        if !wait || start.elapsed() >= WAIT {
            return Err(Failure::new(
                Exit::Host,
                format!("the host is too busy: its {}", problems.join("; its ")),
            )
            .hint("end what else is running, or wait for it: --wait"));
        }
        if !told {
            ui.note(&format!("waiting: the {}", problems.join("; the ")));
            told = true;
        }
        if interrupt.wait(PAUSE) {
            return Err(Failure::new(
                Exit::Failed,
                "interrupted while waiting for a quiet host; nothing was measured",
            ));
        }
    }
}

/// Refuses a host that lacks what a worker says it takes.
pub(super) fn complete(
    prereg: &Prereg,
    programs: &[Program],
    project: &Project,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let scratch = Scratch::of(project, &format!("check-{}", std::process::id()));
    measure::check(prereg, programs, &project.root, &scratch.0, interrupt).map_err(|it| {
        let failure = Failure { exit: Exit::Host, ..Failure::from(&it) };
        failure.context("the host lacks what is to be measured with, nothing was measured or recorded")
    })
}

/// What waiting does not change.
fn settled(rule: &Environment, kernel: &Kernel) -> Result<(), Failure> {
    if let Some(wanted) = &rule.governor {
        let found = host::governors(kernel).ok_or_else(|| hidden("governor"))?;
        if found.iter().any(|it| it != wanted) {
            let message = format!("the governor is {}, registered is {wanted}", found.join(" and "));
            return Err(Failure::new(Exit::Host, message)
                .hint(format!("sudo cpupower frequency-set --governor {wanted}")));
        }
    }
    if let Some(pin) = &rule.pin {
        let allowed = measure::allowed();
        let missing: Vec<String> = measure::cores(Some(pin))
            .into_iter()
            .filter(|it| !allowed.contains(it))
            .map(|it| it.to_string())
            .collect();
        if !missing.is_empty() || (*pin == Pin::One && allowed.is_empty()) {
            let message = format!(
                "workers cannot be kept on processor {}: this process may use {allowed:?}",
                missing.join(", ")
            );
            return Err(Failure::new(Exit::Host, message).hint("see taskset(1), or the container's cpuset"));
        }
    }
    Ok(())
}

/// What waiting may change.
fn busy(rule: &Environment, kernel: &Kernel) -> Result<Vec<String>, Failure> {
    let mut problems = Vec::new();
    if let (Some(max), Some(load)) = (rule.max_load, host::load_average())
        && load > max
    {
        problems.push(format!("load is {load:.2}, registered is at most {max}"));
    }
    let blocks = rule.blocks.as_ref();
    let steal = rule.max_steal.is_some() || blocks.is_some_and(|it| it.max_steal.is_some());
    let pressure = rule.max_pressure.is_some() || blocks.is_some_and(|it| it.max_pressure.is_some());
    if !steal && !pressure {
        return Ok(problems);
    }
    let before = Moment::now(kernel);
    std::thread::sleep(WINDOW);
    let after = Moment::now(kernel);
    let shares = [
        ("steal", steal, after.steal_since(&before), rule.max_steal),
        ("pressure", pressure, after.pressure_since(&before), rule.max_pressure),
    ];
    for (name, asked, found, max) in shares {
        if !asked {
            continue;
        }
        // A limit that is never checked is none: the registration asks for more than this host can show.
        let found = found.ok_or_else(|| hidden(name))?;
        if let Some(max) = max.filter(|it| found > *it) {
            problems.push(format!(
                "{name} is {:.1} %, registered is at most {:.1} %",
                found * 100.0,
                max * 100.0
            ));
        }
    }
    Ok(problems)
}

fn hidden(what: &str) -> Failure {
    Failure::new(
        Exit::Host,
        format!("the registered {what} cannot be checked: the kernel does not tell it here"),
    )
    .hint("measure on another host, or amend the registration without it")
}
