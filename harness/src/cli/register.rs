use super::args::{Format, Global, Register};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::session;
use super::table::Table;
use super::ui::Ui;
use crate::verify;
use serde_json::json;

pub(super) fn run(args: &Register, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let prereg = project.load(&args.experiment)?;
    let mut records = session::open(global, project, ui)?;
    let versions = session::versions(&mut records, &prereg.id)?;
    let registration = match versions.last() {
        None if args.amend => {
            return Err(Failure::new(
                Exit::Usage,
                format!("`{}` is not registered yet, so there is nothing to amend", prereg.id),
            )
            .hint(format!("register it: harness register {}", prereg.id)));
        }
        None => session::register(&mut records, project, &prereg, 1, None)?,
        Some((newest, _)) if newest.digest == prereg.digest() => {
            if args.amend {
                return Err(Failure::new(
                    Exit::Usage,
                    format!(
                        "`experiments/{}.toml` is what was registered as version {}, so there is nothing to amend",
                        prereg.id, newest.version
                    ),
                ));
            }
            ui.note(&format!("{} is registered already, as version {}", prereg.id, newest.version));
            session::keep(project, newest)?;
            newest.clone()
        }
        Some((newest, _)) if args.amend => {
            let reason = args.reason.clone().filter(|it| !it.trim().is_empty());
            let reason =
                reason.ok_or_else(|| Failure::new(Exit::Usage, "the reason of an amendment is empty"))?;
            session::register(&mut records, project, &prereg, newest.version + 1, Some(reason))?
        }
        Some((newest, frozen)) => return Err(session::changed(&prereg, frozen, newest.version)),
    };
    records.close()?;
    let mut table = Table::new(["experiment", "version", "sha256"]);
    let it = &registration;
    table.row([json!(it.experiment), json!(it.version), json!(it.digest)]);
    match ui.format {
        Format::Text => {
            // The last line is a trailer for the message of the commit that holds the file: it anchors the text in
            // the history, out of reach of whoever owns the database.
            ui.result(&format!(
                "{} version {}\n{}",
                it.experiment,
                it.version,
                verify::trailer(&it.experiment, it.version, it.digest)
            ))?;
        }
        _ => ui.result(&table.show(ui.format))?,
    }
    Ok(Exit::Done)
}
