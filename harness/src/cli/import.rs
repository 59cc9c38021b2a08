use super::args::{Global, Import};
use super::failure::{Exit, Failure};
use super::load::{self, Selection, experiment_of};
use super::project::Project;
use super::session;
use super::table::Table;
use super::ui::Ui;
use crate::exchange::evidence;
use serde_json::json;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &Import, global: &Global, ui: &mut Ui) -> Result<Exit, Failure> {
    let path = absolute(&args.path)?;
    let project = Project::find(global.project.as_deref())?;
    let selection = Selection { again: true, ..selection(&path)? };
    let given = (selection.registrations.len(), selection.runs.len());
    if given == (0, 0) {
        return Err(Failure::new(Exit::Usage, format!("there is no evidence in `{}`", args.path.display()))
            .hint(
                "evidence is <experiment>/registration-<version>.json and <experiment>/run-<id>.ndjson.gz",
            ));
    }
    let mut store = session::open_store(global, &project, ui)?;
    let loaded = load::load(&mut store, &selection, &project, ui)?;
    loaded.warn(ui);
    store.close()?;
    let mut table = Table::new(["what", "given", "new"]);
    table.row([json!("registrations"), json!(given.0), json!(loaded.registrations)]);
    table.row([json!("runs"), json!(given.1), json!(loaded.runs)]);
    ui.result(&table.show(ui.format))?;
    if loaded.registrations + loaded.runs > 0 {
        ui.note("the ledgers do not show it yet: harness render");
    }
    Ok(Exit::Done)
}

/// A path that means the same from the project's root.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|it| {
        Failure::chain(Exit::Usage, &it).context(&format!("no such place: `{}`", path.display()))
    })
}

/// What of the evidence around `path` is meant by it.
fn selection(path: &Path) -> Result<Selection, Failure> {
    let unusable = |problem: &str| {
        Failure::new(Exit::Usage, format!("`{}` cannot be imported: {problem}", path.display()))
            .hint("name a file run-<id>.ndjson.gz, the folder that it is in, or the folder above that")
    };
    if path.is_file() {
        let folder = path.parent().and_then(Path::parent).ok_or_else(|| unusable("it is in no folder"))?;
        let experiment = experiment_of(path);
        let mut selection = Selection::of(folder, |it| it == experiment)?;
        selection.runs.retain(|(_, it)| it == path);
        let registration = selection.registrations.iter().any(|(it, _)| it == path);
        return if selection.runs.is_empty() && !registration {
            Err(unusable("its name is not that of evidence"))
        } else {
            Ok(selection)
        };
    }
    if !path.is_dir() {
        return Err(unusable("there is no such file or folder"));
    }
    let project = evidence::base(path);
    if project.is_dir() {
        return Selection::of(&project, |_| true);
    }
    let all = Selection::of(path, |_| true)?;
    match (all.registrations.is_empty() && all.runs.is_empty(), path.parent()) {
        // No folders of experiments in it: it may be one itself.
        (true, Some(above)) => {
            let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            Selection::of(above, |it| it == name)
        }
        _ => Ok(all),
    }
}
