use super::{Exit, Failure, Global, Project, Ui, session};
use crate::store::Store;

pub(super) fn run(global: &Global, project: &Project, ui: &Ui) -> Result<Exit, Failure> {
    let notice = |line: &str| ui.note(line);
    let (store, applied) = Store::migrate(&session::options(global, project, &notice)?)?;
    let place = store.location();
    ui.note(&match (applied.first(), applied.last()) {
        (Some(first), Some(last)) if first == last => format!("applied migration {first} to {place}"),
        (Some(first), Some(last)) => format!("applied migrations {first} to {last} to {place}"),
        _ => format!("the schema of {place} is up to date"),
    });
    store.close()?;
    Ok(Exit::Done)
}
