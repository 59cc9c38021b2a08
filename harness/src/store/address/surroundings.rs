//! What a connection string leaves open: service files, `PG*` variables, and the defaults of libpq.
//!
//! What the string says comes first, then the service that it or `PGSERVICE` names, then the variables.

use super::conninfo::{WORDS, Words, problem};
use crate::store::StoreError;
use std::path::{Path, PathBuf};

/// The environment of a process, as far as connections care.
pub(super) struct Surroundings<'a> {
    /// A variable's value.
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
    /// The user's name for the system.
    pub(super) account: &'a dyn Fn() -> Option<String>,
}

impl Surroundings<'_> {
    /// A variable that is set to something.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|it| !it.is_empty())
    }

    /// A file below the user's home.
    pub(super) fn at_home(&self, name: &str) -> Option<PathBuf> {
        self.get("HOME").map(|it| Path::new(&it).join(name))
    }

    /// Adds to `words` what the service and the variables say.
    pub(super) fn fill(&self, words: &mut Words) -> Result<(), StoreError> {
        let service = words.get("service").map(str::to_owned).or_else(|| self.get("PGSERVICE"));
        if let Some(service) = service.filter(|it| !it.is_empty()) {
            self.fill_service(words, &service)?;
        }
        for (name, variable, _) in
            WORDS.iter().filter(|(name, variable, _)| *name != "service" && !variable.is_empty())
        {
            if let Some(value) = self.get(variable) {
                words.put_default(name, value).map_err(|error| in_variable(variable, error))?;
            }
        }
        if words.lacks("user")
            && let Some(account) = (self.account)()
        {
            words.put("user", account)?;
        }
        if words.lacks("dbname")
            && let Some(user) = words.get("user").map(str::to_owned)
        {
            words.put("dbname", user)?;
        }
        Ok(())
    }

    fn fill_service(&self, words: &mut Words, service: &str) -> Result<(), StoreError> {
        let named = self.get("PGSERVICEFILE").map(PathBuf::from);
        let own = named.or_else(|| self.at_home(".pg_service.conf"));
        let common = self.get("PGSYSCONFDIR").map(|it| Path::new(&it).join("pg_service.conf"));
        for file in [own, common].into_iter().flatten() {
            let text = match std::fs::read_to_string(&file) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(StoreError::io("read", file, error)),
            };
            let Some(lines) = section(&text, service) else { continue };
            for line in lines {
                let (name, value) = line.split_once('=').ok_or_else(|| {
                    problem(format!("a line without `=` in service `{service}` of `{}`", file.display()))
                })?;
                words.put_default(name.trim(), value.trim().to_owned())?;
            }
            return Ok(());
        }
        Err(problem(format!("no service `{service}` in ~/.pg_service.conf, $PGSERVICEFILE or $PGSYSCONFDIR")))
    }
}

fn in_variable(variable: &str, error: StoreError) -> StoreError {
    match error {
        StoreError::Url { problem } => StoreError::Url { problem: format!("{problem} (from {variable})") },
        other => other,
    }
}

/// The lines of `[name]`, without comments.
fn section<'a>(text: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|it| it.strip_prefix('[').and_then(|it| it.strip_suffix(']')) == Some(name))?;
    let own = lines.take_while(|it| !it.starts_with('['));
    Some(own.filter(|it| !it.is_empty() && !it.starts_with('#')).collect())
}

#[cfg(test)]
mod tests {
    use super::super::conninfo::parse;
    use super::*;

    #[track_caller]
    fn filled(text: &str, variables: &[(&str, &str)]) -> Result<Words, StoreError> {
        let variable =
            |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
        let mut words = parse(text).unwrap();
        Surroundings { variable: &variable, account: &|| Some("me".to_owned()) }.fill(&mut words)?;
        Ok(words)
    }

    #[test]
    fn the_string_counts_more_than_variables() {
        let variables = [("PGHOST", "there"), ("PGUSER", "bob"), ("PGPASSWORD", "s3cret"), ("PGPORT", "")];
        let words = filled("postgres://alice@/", &variables).unwrap();
        assert_eq!(words.get("host"), Some("there"));
        assert_eq!(words.get("user"), Some("alice"));
        assert_eq!(words.get("password"), Some("s3cret"));
        assert_eq!(words.get("dbname"), Some("alice"));
        assert_eq!(words.get("port"), None);
        assert_eq!(filled("postgres://h", &[]).unwrap().get("dbname"), Some("me"));
        let error = filled("host=h", &[("PGSSLCRL", "s3")]).unwrap_err().to_string();
        assert!(error.ends_with("(from PGSSLCRL)"), "{error}");
    }

    #[test]
    fn a_service_stands_between_string_and_variables() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("services");
        std::fs::write(&file, "# ours\n[other]\nhost=x\n[perf]\nhost=db.example\n# its port\nport = 6000\nuser=carol\n\n[z]\nhost=z")
            .unwrap();
        let variables =
            [("PGSERVICEFILE", file.to_str().unwrap()), ("PGHOST", "there"), ("PGSERVICE", "perf")];
        let words = filled("postgres://alice@/", &variables).unwrap();
        assert_eq!(
            (words.get("host"), words.get("port"), words.get("user")),
            (Some("db.example"), Some("6000"), Some("alice"))
        );
        let error = filled("service=none", &variables).unwrap_err().to_string();
        assert!(error.contains("no service `none`"), "{error}");
    }
}
