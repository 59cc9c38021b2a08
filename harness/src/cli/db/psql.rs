use super::{Exit, Failure, Global, Project, Ui, session};
use crate::store::{cluster, password_of};
use signal_hook::consts::{SIGINT, SIGQUIT};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub(super) fn run(global: &Global, project: &Project, ui: &Ui) -> Result<Exit, Failure> {
    let program = find(global, project)?;
    let store = session::open_store(global, project, ui)?;
    let mut psql = Command::new(&program);
    psql.arg(store.url());
    // Not as an argument: the environment is not for others to read. Files and variables psql finds itself.
    if let Some(password) = session::database_url(global).as_deref().and_then(password_of) {
        psql.env("PGPASSWORD", password);
    }
    // Ctrl-C cancels a query in psql; it must not end the program that waits for it.
    let noticed = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGQUIT] {
        signal_hook::flag::register(signal, Arc::clone(&noticed))
            .map_err(|it| Failure::chain(Exit::Failed, &it).context("failed to listen for signals"))?;
    }
    let ended = psql.status();
    store.close_after()?;
    match ended {
        Ok(status) if status.success() => Ok(Exit::Done),
        Ok(status) => Err(Failure::new(Exit::Failed, format!("psql ended with {status}"))),
        Err(error) => {
            Err(Failure::chain(Exit::Failed, &error)
                .context(&format!("failed to start `{}`", program.display())))
        }
    }
}

fn find(global: &Global, project: &Project) -> Result<PathBuf, Failure> {
    let options = session::options(global, project, &|_| {})?;
    cluster::program(&options.cluster(), "psql").ok_or_else(|| {
        Failure::new(Exit::Failed, "no psql on PATH, nor beside the programs of a Postgres server").hint(
            "install it (apt install postgresql-client | brew install libpq | harness db install), or use another \
             client: harness db url",
        )
    })
}
