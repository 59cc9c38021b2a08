//! Setting a run aside. It stays where it is, struck out with its reason, and is counted in the ledger: who picks among
//! runs does so in front of every reader.

use super::args::{Format, Global, Invalidate};
use super::failure::{Exit, Failure};
use super::lock::RunLock;
use super::project::Project;
use super::render;
use super::session;
use super::table::Table;
use super::ui::Ui;
use crate::store::Invalidation;
use serde_json::{Value, json};

pub(super) fn run(
    args: &Invalidate,
    global: &Global,
    project: &Project,
    ui: &mut Ui,
) -> Result<Exit, Failure> {
    let id = args.run;
    if args.reason.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "the reason is empty"));
    }
    let mut records = session::open(global, project, ui)?;
    let Some(data) = records.run(id)? else {
        return Err(Failure::new(Exit::Usage, format!("no run {id} in the store"))
            .hint("harness show EXPERIMENT lists its runs"));
    };
    let lock = RunLock::take(project, id)?;
    match (data.invalidated(), args.undo) {
        (Some(before), false) => {
            let message = format!("run {id} is invalidated already: {}", before.reason);
            return Err(
                Failure::new(Exit::Usage, message).hint("take it back: harness invalidate RUN --undo")
            );
        }
        (None, true) => {
            return Err(Failure::new(
                Exit::Usage,
                format!("run {id} is not invalidated, so there is nothing to undo"),
            ));
        }
        _ => {}
    }
    let it = Invalidation {
        seq: data.invalidations.last().map_or(0, |it| it.seq) + 1,
        at: session::now(),
        invalid: !args.undo,
        reason: args.reason.clone(),
    };
    records.invalidate(id, &it)?;
    lock.remove(project, id);
    let name = &data.run.experiment;
    let experiment = session::experiment(&mut records, project, name)?
        .ok_or_else(|| Failure::new(Exit::Failed, format!("`{name}` is gone from the store")))?;
    render::write(&mut records, project, ui, &experiment.prereg().ledger)?;
    records.close()?;
    let state = if args.undo { "restored" } else { "invalidated" };
    let deciding = experiment.deciding().map(|it| it.data.run.id.to_string());
    let count = experiment.invalidated();
    if ui.format == Format::Text {
        let s = if count == 1 { " is" } else { "s are" };
        ui.result(&format!("run {id} of {name} is {state}; {count} run{s} struck out in the ledger"))?;
        return match deciding {
            Some(run) if run == id.to_string() => ui.result("it decides"),
            Some(run) => ui.result(&format!("run {run} decides")),
            None => ui.result(&format!("no run decides: harness run {name}")),
        }
        .map(|()| Exit::Done);
    }
    let mut table = Table::new(["run", "experiment", "state", "invalidated", "deciding"]);
    table.row([
        json!(id),
        json!(name),
        json!(state),
        json!(count),
        deciding.map_or(Value::Null, Value::from),
    ]);
    ui.result(&table.show(ui.format))?;
    Ok(Exit::Done)
}
