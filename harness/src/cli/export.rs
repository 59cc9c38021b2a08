use super::args::{Export, Format, Global};
use super::failure::{Exit, Failure};
use super::import::absolute;
use super::project::Project;
use super::session;
use super::table::Table;
use super::ui::Ui;
use crate::exchange::{chain, evidence};
use serde_json::json;

pub(super) fn run(args: &Export, global: &Global, ui: &mut Ui) -> Result<Exit, Failure> {
    let to = args.to.as_deref().map(absolute).transpose()?;
    let project = Project::find(global.project.as_deref())?;
    let base = to.unwrap_or_else(|| evidence::base(&project.root));
    let mut records = session::open(global, &project, ui)?;
    let Some(data) = records.run(args.run)? else {
        return Err(Failure::new(Exit::Usage, format!("no run {} in the store", args.run))
            .hint("harness list and harness show EXPERIMENT tell which there are"));
    };
    let experiment = data.run.experiment.clone();
    let mut written = vec![evidence::write_run_in(&base, &session::evidence(&mut records, data)?)?];
    for registration in records.registrations(&experiment)? {
        written.push(evidence::write_registration_in(&base, &registration)?);
    }
    written.push(chain::write(&base, &experiment, &records.chain(&experiment)?)?);
    records.close()?;
    let written: Vec<String> = written.iter().map(|it| project.shown(it)).collect();
    if ui.format == Format::Text {
        ui.result(&written.join("\n"))?;
    } else {
        let mut table = Table::new(["file"]);
        written.iter().for_each(|it| table.row([json!(it)]));
        ui.result(&table.show(ui.format))?;
    }
    Ok(Exit::Done)
}
