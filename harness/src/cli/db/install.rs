use super::{Exit, Failure, Ui, session};
use crate::store::cluster;

pub(super) fn run(ui: &mut Ui) -> Result<Exit, Failure> {
    let notice = |line: &str| ui.note(line);
    let folder = cluster::install(&session::data_home(), &notice)?;
    ui.result(&folder.display().to_string())?;
    Ok(Exit::Done)
}
