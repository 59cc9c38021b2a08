use super::args::{Check, Format};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::table::Table;
use super::ui::{Tone, Ui};
use crate::prereg::{LoadError, Prereg};
use serde_json::{Value, json};

pub(super) fn run(args: &Check, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let ids = if args.experiments.is_empty() { project.experiments()? } else { args.experiments.clone() };
    let mut exit = Exit::Done;
    let mut report = Vec::new();
    let mut table = Table::new(["experiment", "valid", "problems", "sha256"]);
    for id in ids.iter().map(|it| project.id(it)) {
        match check(project, id) {
            Ok(prereg) => {
                let digest = prereg.digest();
                table.row([json!(id), json!(true), json!(0), json!(digest)]);
                report.push(json!({ "experiment": id, "valid": true, "sha256": digest }));
                if ui.format == Format::Text {
                    let ok = ui.tone(Tone::Good, "ok");
                    ui.result(&format!("{ok} {id}, SHA-256 {digest}"))?;
                }
            }
            Err((failure, problems)) => {
                exit = Exit::Usage;
                ui.failure(&failure);
                table.row([json!(id), json!(false), json!(problems.len()), Value::Null]);
                report.push(json!({ "experiment": id, "valid": false, "problems": problems }));
            }
        }
    }
    match ui.format {
        Format::Text => {}
        Format::Json => ui.result(&format!("{:#}", Value::Array(report)))?,
        Format::Csv | Format::Markdown => ui.result(&table.show(ui.format))?,
    }
    Ok(exit)
}

/// The pre-registration, or what is wrong with it in words and as a list for programs.
fn check(project: &Project, id: &str) -> Result<Prereg, (Failure, Vec<Value>)> {
    let alone = |failure: Failure| {
        let problem = json!({ "message": failure.message, "hint": failure.hint });
        (failure, vec![problem])
    };
    let path = project.file(id).map_err(alone)?;
    Prereg::load(path).map_err(|error| {
        let LoadError::Invalid(problems) = &error else { return alone(Failure::from(error)) };
        let list = problems.to_json()["problems"].as_array().cloned().unwrap_or_default();
        (Failure::from(error), list)
    })
}
