use super::cluster::ClusterOptions;
use std::path::PathBuf;

/// Which store to open, and how.
pub struct StoreOptions<'a> {
    /// The project's root: the private cluster lives in `.harness/pg` below it.
    pub project: PathBuf,
    /// A server, in place of the private cluster: `postgres://..` or `key=value ..`.
    pub url: Option<String>,
    /// The folder of the server binaries, in place of a search.
    pub pg_bin: Option<PathBuf>,
    /// The user's data folder (`$XDG_DATA_HOME`, `~/.local/share`): binaries fetched earlier are below it.
    pub data_home: PathBuf,
    /// Whether missing binaries may be fetched.
    pub autoinstall: bool,
    /// Takes one line for the user when something takes a while.
    pub notice: &'a dyn Fn(&str),
}

impl StoreOptions<'_> {
    /// The project's private cluster, whether or not the store is there.
    pub fn cluster(&self) -> ClusterOptions {
        ClusterOptions {
            dir: self.project.join(".harness/pg"),
            pg_bin: self.pg_bin.clone(),
            data_home: self.data_home.clone(),
            autoinstall: self.autoinstall,
            settings: Vec::new(),
        }
    }
}

/// The password in a database URL itself, in place of a variable or the password file.
pub fn password_of(url: &str) -> Option<String> {
    super::address::own_password(url)
}

impl std::fmt::Debug for StoreOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreOptions")
            .field("project", &self.project)
            .field("url", &self.url.as_ref().map(|_| ".."))
            .field("pg_bin", &self.pg_bin)
            .field("data_home", &self.data_home)
            .field("autoinstall", &self.autoinstall)
            .finish_non_exhaustive()
    }
}
