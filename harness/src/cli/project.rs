use super::failure::{Exit, Failure};
use crate::prereg::Prereg;
use std::path::{Path, PathBuf};

/// A folder with experiments, ledgers and plots.
pub(super) struct Project {
    pub(super) root: PathBuf,
}

impl Project {
    /// The project at `given`, or around the current folder.
    pub(super) fn find(given: Option<&Path>) -> Result<Self, Failure> {
        let hint = "a project is a folder with a folder `experiments` in it; --project names one, `harness init` makes one";
        if let Some(given) = given {
            let root = given.canonicalize().map_err(|it| {
                Failure::chain(Exit::Usage, &it).context(&format!("no project at `{}`", given.display()))
            })?;
            return if root.join("experiments").is_dir() {
                Self::enter(root)
            } else {
                Err(Failure::new(Exit::Usage, format!("no folder `experiments` in `{}`", given.display()))
                    .hint(hint))
            };
        }
        let here = std::env::current_dir()
            .map_err(|it| Failure::chain(Exit::Failed, &it).context("the current folder cannot be read"))?;
        let root = here.ancestors().find(|it| it.join("experiments").is_dir());
        let root = root
            .ok_or_else(|| Failure::new(Exit::Usage, "no folder `experiments` here or upwards").hint(hint))?;
        Self::enter(root.to_owned())
    }

    /// Works in the root from now on, so that messages name files as the project knows them.
    fn enter(root: PathBuf) -> Result<Self, Failure> {
        std::env::set_current_dir(&root).map_err(|it| {
            Failure::chain(Exit::Failed, &it).context(&format!("failed to enter `{}`", root.display()))
        })?;
        Ok(Self { root })
    }

    /// The identities of all experiments that have a file, sorted.
    pub(super) fn experiments(&self) -> Result<Vec<String>, Failure> {
        let folder = self.root.join("experiments");
        let failed = |it: std::io::Error| {
            Failure::chain(Exit::Failed, &it).context(&format!("failed to list `{}`", folder.display()))
        };
        let mut ids = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            // `Cargo.toml` is there when the worker's crate is; an experiment's name has no capitals.
            if let Some(id) = name.strip_suffix(".toml").filter(|it| *it != "Cargo") {
                ids.push(id.to_owned());
            }
        }
        ids.sort();
        Ok(ids)
    }

    /// The identity of an experiment that may be named by its file.
    pub(super) fn id<'a>(&self, named: &'a str) -> &'a str {
        let id = named.strip_suffix(".toml").unwrap_or(named);
        id.strip_prefix("./").unwrap_or(id).strip_prefix("experiments/").unwrap_or(id)
    }

    /// The harness's own folder in the project, which is nothing to commit.
    pub(super) fn state(&self) -> Result<PathBuf, Failure> {
        let folder = self.root.join(".harness");
        let ignore = folder.join(".gitignore");
        let make = || {
            std::fs::create_dir_all(&folder)?;
            if ignore.exists() { Ok(()) } else { std::fs::write(&ignore, "*\n") }
        };
        make().map_err(|it: std::io::Error| {
            Failure::chain(Exit::Failed, &it).context(&format!("failed to make `{}`", self.shown(&folder)))
        })?;
        Ok(folder)
    }

    /// The pre-registration of an experiment.
    pub(super) fn load(&self, id: &str) -> Result<Prereg, Failure> {
        Ok(Prereg::load(self.file(id)?)?)
    }

    /// The file of an experiment, which is there.
    pub(super) fn file(&self, id: &str) -> Result<PathBuf, Failure> {
        let id = self.id(id);
        let path = Path::new("experiments").join(format!("{id}.toml"));
        let known = self.experiments()?;
        if !known.iter().any(|it| it == id) {
            let failure =
                Failure::new(Exit::Usage, format!("no experiment `{id}`: there is no `{}`", path.display()));
            let near =
                known.iter().map(|it| (strsim::jaro_winkler(it, id), it)).max_by(|a, b| a.0.total_cmp(&b.0));
            return Err(match near {
                Some((likeness, near)) if likeness > 0.75 => failure.hint(format!("did you mean `{near}`?")),
                _ if known.is_empty() => failure.hint("there are no experiments yet"),
                _ => failure.hint(format!("experiments are `{}`", known.join("`, `"))),
            });
        }
        Ok(path)
    }

    /// What was written about an experiment after its data were in.
    pub(super) fn notes(&self, id: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join("experiments").join(format!("{id}.notes.md"))).ok()
    }

    /// `path` as messages show it: relative to the root.
    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}
