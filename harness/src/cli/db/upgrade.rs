use super::{Exit, Failure, Global, Project, Ui, session};
use crate::store::cluster::{self, Upgrade};

pub(super) fn run(global: &Global, project: &Project, ui: &Ui) -> Result<Exit, Failure> {
    let notice = |line: &str| ui.note(line);
    let options = session::options(global, project, &notice)?;
    if options.url.is_some() {
        return Err(Failure::new(Exit::Usage, "only the private server is the harness's own to upgrade")
            .hint("take away --database-url, HARNESS_DATABASE_URL and DATABASE_URL"));
    }
    match cluster::upgrade(&options.cluster(), &notice)? {
        Upgrade::Nothing => ui.note("there is no private store yet"),
        Upgrade::Newest { major } => ui.note(&format!(
            "the private store is of PostgreSQL {major}, and no newer one is on this machine (harness db install \
             fetches one)"
        )),
        Upgrade::Done { from, to, kept } => {
            let mut store = session::connect(global, project, ui)?;
            store.refresh_statistics();
            store.close()?;
            ui.note(&format!(
                "the private store was of PostgreSQL {from} and is of PostgreSQL {to} now; the old data are kept in \
                 `{}`",
                project.shown(&kept)
            ));
        }
    }
    Ok(Exit::Done)
}
