use super::args::{Check, Format};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::ui::{Tone, Ui};
use crate::prereg::{LoadError, Prereg};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(args: &Check, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let all = args.experiments.is_empty();
    let ids = if all { project.experiments()? } else { args.experiments.clone() };
    let mut invalid = 0;
    let mut report = Vec::new();
    for id in &ids {
        // A name that is not there gets its suggestions from here.
        let loaded = if all {
            Prereg::load(Path::new("experiments").join(format!("{id}.toml")))
        } else {
            match project.load(id) {
                Ok(prereg) => Ok(prereg),
                Err(failure) => {
                    invalid += 1;
                    ui.failure(&failure);
                    report.push(json!({ "experiment": id, "valid": false, "problems": failure.details }));
                    continue;
                }
            }
        };
        match loaded {
            Ok(prereg) => {
                report.push(json!({ "experiment": id, "valid": true, "sha256": prereg.digest() }));
                if ui.format == Format::Text {
                    let ok = ui.tone(Tone::Good, "ok");
                    ui.result(&format!("{ok} {id}, SHA-256 {}", prereg.digest()))?;
                }
            }
            Err(error) => {
                invalid += 1;
                let problems = match &error {
                    LoadError::Invalid(problems) => problems.to_json(),
                    other => Value::String(other.to_string()),
                };
                report.push(json!({ "experiment": id, "valid": false, "problems": problems }));
                ui.failure(&Failure::from(error));
            }
        }
    }
    if ui.format == Format::Json {
        ui.result(&format!("{:#}", Value::Array(report)))?;
    }
    Ok(if invalid == 0 { Exit::Done } else { Exit::Usage })
}
