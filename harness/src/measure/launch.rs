use crate::prereg::{Launch, Package};
use crate::vocab::Digest;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A worker's program, found and hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What is run.
    pub path: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Program and arguments as a ledger shows them: relative to the project's root.
    pub shown: Vec<String>,
    /// SHA-256 of the program.
    pub binary: Option<Digest>,
}

/// Why a worker's program could not be had.
#[derive(Debug)]
#[non_exhaustive]
pub enum LaunchError {
    /// Cargo could not be run.
    Cargo(io::Error),
    /// Cargo did not build the package.
    Build {
        /// The package.
        package: String,
    },
    /// The package has no binary of its own name.
    NoBinary {
        /// The package.
        package: String,
    },
    /// The command is not there.
    NotFound {
        /// As registered.
        program: String,
    },
    /// The program cannot be read.
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cargo(_) => f.write_str("failed to run cargo"),
            Self::Build { package } => write!(f, "cargo did not build worker package `{package}`"),
            Self::NoBinary { package } => write!(f, "package `{package}` has no binary of that name"),
            Self::NotFound { program } => {
                write!(f, "no worker `{program}`, neither below the project's root nor on PATH")
            }
            Self::Read { path, .. } => write!(f, "failed to read worker `{}`", path.display()),
        }
    }
}

impl std::error::Error for LaunchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Cargo(source) | Self::Read { source, .. } => Some(source),
            Self::Build { .. } | Self::NoBinary { .. } | Self::NotFound { .. } => None,
        }
    }
}

/// Builds or finds the program of `launch` below the project's `root`.
///
/// Cargo's own messages go to standard error as they come.
pub fn resolve(launch: &Launch, root: &Path) -> Result<Program, LaunchError> {
    let (path, args) = match launch {
        Launch::Package(package) => (build(package, root)?, Vec::new()),
        Launch::Command(command) => {
            let (program, args) =
                command.split_first().map_or(("", &[][..]), |(it, args)| (it.as_str(), args));
            (find(program, root)?, args.to_vec())
        }
    };
    let binary = digest(&path)?;
    let shown = path.strip_prefix(root).map_or_else(|_| name(&path), |it| it.display().to_string());
    let shown = std::iter::once(shown).chain(args.iter().cloned()).collect();
    Ok(Program { path, args, shown, binary: Some(binary) })
}

/// A program outside the project is shown by its name only: its folder is the host's own affair.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn build(package: &Package, root: &Path) -> Result<PathBuf, LaunchError> {
    let name = &package.name;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let output = Command::new(cargo)
        .args(arguments(package))
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .map_err(LaunchError::Cargo)?;
    if !output.status.success() {
        return Err(LaunchError::Build { package: described(package) });
    }
    let mut executables = output.stdout.split(|it| *it == b'\n').filter_map(|line| {
        let message: serde_json::Value = serde_json::from_slice(line).ok()?;
        let target = message.get("target")?;
        let is_it = target.get("name")?.as_str()? == name && target.get("kind")?[0].as_str()? == "bin";
        is_it.then(|| message.get("executable")?.as_str().map(PathBuf::from))?
    });
    executables.next().ok_or_else(|| LaunchError::NoBinary { package: name.clone() })
}

fn arguments(package: &Package) -> Vec<String> {
    let profile = package.profile.as_deref().unwrap_or("release");
    let mut arguments = ["build", "--profile", profile, "--package", &package.name, "--bin", &package.name]
        .map(str::to_owned)
        .to_vec();
    if !package.features.is_empty() {
        arguments.extend(["--features".to_owned(), package.features.join(",")]);
    }
    arguments
}

/// A package with what it is built with, if that is not the usual.
pub fn described(package: &Package) -> String {
    let mut text = package.name.clone();
    if !package.features.is_empty() {
        text.push_str(&format!(" --features {}", package.features.join(",")));
    }
    text.extend(package.profile.iter().map(|it| format!(" --profile {it}")));
    text
}

fn find(program: &str, root: &Path) -> Result<PathBuf, LaunchError> {
    let below = root.join(program);
    if below.is_file() {
        return Ok(below);
    }
    let on_path = (!program.contains('/'))
        .then(|| std::env::var_os("PATH"))
        .flatten()
        .and_then(|path| std::env::split_paths(&path).map(|it| it.join(program)).find(|it| it.is_file()));
    on_path.ok_or_else(|| LaunchError::NotFound { program: program.to_owned() })
}

fn digest(path: &Path) -> Result<Digest, LaunchError> {
    let read = |source| LaunchError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(read)?;
    Digest::of_reader(BufReader::new(file)).map_err(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_and_profile_reach_cargo() {
        let usual = Package { name: "w".into(), features: Vec::new(), profile: None };
        assert_eq!(arguments(&usual).join(" "), "build --profile release --package w --bin w");
        assert_eq!(described(&usual), "w");
        let other = Package { features: vec!["a".into(), "b".into()], profile: Some("fat".into()), ..usual };
        assert_eq!(arguments(&other).join(" "), "build --profile fat --package w --bin w --features a,b");
        assert_eq!(described(&other), "w --features a,b --profile fat");
    }
}
