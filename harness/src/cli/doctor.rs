//! `harness doctor`: what makes this machine unfit for measuring. Nothing is changed.

use super::args::{Doctor, Format};
use super::failure::{Exit, Failure};
use super::table::Table;
use super::ui::{Tone, Ui};
use crate::host::{self, CHECKS, Check, Finding, Fitness, Kernel, Moment, Patient};
use crate::probe::HARDWARE_EVENTS;
use serde_json::{Value, json};
use std::time::Duration;

/// Between the two looks at the kernel's counters.
const WINDOW: Duration = Duration::from_secs(1);

pub(super) fn run(args: &Doctor, ui: &mut Ui) -> Result<Exit, Failure> {
    let kernel = args.root.as_ref().map_or_else(Kernel::default, Kernel::at);
    let before = Moment::thorough(&kernel);
    std::thread::sleep(WINDOW);
    let after = Moment::thorough(&kernel);
    // The files of another machine do not make this one count for it.
    let here = args.root.is_none().then_some(HARDWARE_EVENTS.first()).flatten();
    let counting = here.map(|event| event.count().map(drop));
    let patient = Patient { kernel, before, after, clock_step: host::clock_step(), counting };
    let found: Vec<(&Check, Finding)> = CHECKS.iter().map(|it| (it, it.look(&patient))).collect();
    let count = |fitness: Fitness| found.iter().filter(|(_, it)| it.fitness == fitness).count();
    let unfit = count(Fitness::Unfit);
    match ui.format {
        Format::Text => text(ui, &found)?,
        format => {
            let mut table = Table::new(["check", "fitness", "found", "why", "advice"]);
            for (check, it) in &found {
                let words =
                    [check.name, it.fitness.as_str(), it.found.as_str(), check.why, it.advice.as_str()];
                table.row(words.map(Value::from));
            }
            if format == Format::Json {
                let document = json!({
                    "fit": count(Fitness::Fit), "unfit": unfit, "hidden": count(Fitness::Hidden),
                    "checks": table.to_json(),
                });
                ui.result(&format!("{document:#}"))?;
            } else {
                ui.result(&table.show(format))?;
            }
        }
    }
    Ok(if args.gate && unfit > 0 { Exit::Host } else { Exit::Done })
}

fn text(ui: &mut Ui, found: &[(&Check, Finding)]) -> Result<(), Failure> {
    let width = found.iter().map(|(check, _)| check.name.len()).max().unwrap_or(0);
    for (check, it) in found {
        let tone = match it.fitness {
            Fitness::Fit => Tone::Good,
            Fitness::Unfit => Tone::Bad,
            Fitness::Hidden => Tone::Open,
        };
        let word = ui.tone(tone, &format!("{:6}", it.fitness.as_str()));
        // The kernel's words, without what would act on the terminal.
        let shown: String = it.found.chars().filter(|it| !it.is_control()).collect();
        ui.result(&format!("{word}  {:width$}  {shown}", check.name))?;
        if it.fitness == Fitness::Unfit {
            ui.result(&format!("        {:width$}  {}", "", check.why))?;
            ui.result(&format!("        {:width$}  -> {}", "", it.advice))?;
        }
    }
    let count = |fitness: Fitness| found.iter().filter(|(_, it)| it.fitness == fitness).count();
    let (unfit, hidden) = (count(Fitness::Unfit), count(Fitness::Hidden));
    let summary = format!(
        "{unfit} of {} things disturb measuring here, {hidden} cannot be read. Nothing was changed.",
        found.len()
    );
    ui.result("")?;
    ui.result(&summary)
}
