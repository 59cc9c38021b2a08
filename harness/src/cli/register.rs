use super::args::{Global, Register};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::session;
use super::ui::Ui;

pub(super) fn run(args: &Register, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let prereg = project.load(&args.experiment)?;
    let mut store = session::open(global, project, ui)?;
    let versions = session::versions(&mut store, &prereg.id)?;
    let registration = match versions.last() {
        None if args.amend => {
            return Err(Failure::new(
                Exit::Usage,
                format!("`{}` is not registered yet, so there is nothing to amend", prereg.id),
            )
            .hint(format!("register it: harness register {}", prereg.id)));
        }
        None => session::register(&mut store, project, &prereg, 1, None)?,
        Some((newest, _)) if newest.digest == prereg.digest() => {
            ui.note(&format!("{} is registered already, as version {}", prereg.id, newest.version));
            newest.clone()
        }
        Some((newest, _)) if args.amend => {
            let reason = args.reason.clone().filter(|it| !it.trim().is_empty());
            let reason =
                reason.ok_or_else(|| Failure::new(Exit::Usage, "the reason of an amendment is empty"))?;
            session::register(&mut store, project, &prereg, newest.version + 1, Some(reason))?
        }
        Some((newest, frozen)) => return Err(session::changed(&prereg, frozen, newest.version)),
    };
    store.close()?;
    ui.result(&format!(
        "{} version {}\nPreregistered: {}",
        registration.experiment, registration.version, registration.digest
    ))?;
    Ok(Exit::Done)
}
