use super::build::{self, Built};
use crate::prereg::{Commands, Launch, Package};
use crate::vocab::Digest;
use rustix::fs::{Access, access};
use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

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
    /// The folder that it works in; `None`: the project's root.
    pub folder: Option<PathBuf>,
    /// How it was made, if it was built for the arm.
    pub built: Option<Built>,
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
        /// The last lines of what cargo said, where it did not say it to the user.
        lines: Vec<String>,
    },
    /// There is no such revision.
    Revision {
        /// As registered.
        revision: String,
        /// What git says.
        lines: Vec<String>,
    },
    /// Git failed.
    Git {
        /// Its arguments.
        args: Vec<String>,
        /// What it says.
        lines: Vec<String>,
    },
    /// A folder for builds cannot be used.
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The command of a build could not be started.
    BuildStart {
        /// Program and arguments.
        command: Vec<String>,
        /// Why.
        source: io::Error,
    },
    /// The command of a build failed.
    BuildCommand {
        /// Program and arguments.
        command: Vec<String>,
        /// How it ended.
        status: ExitStatus,
        /// The last lines of its output.
        lines: Vec<String>,
    },
    /// The package has no binary of its own name.
    NoBinary {
        /// The package.
        package: String,
    },
    /// The command is not there.
    NotFound {
        /// `worker` or `command`.
        what: &'static str,
        /// As registered.
        program: String,
        /// A program on `PATH` with a name like it.
        like: Option<String>,
    },
    /// Something is not there that a registered probe needs.
    Unsupported {
        /// The probe.
        what: &'static str,
        /// What is missing.
        needs: &'static str,
    },
    /// The program may not be executed.
    NotExecutable {
        /// Which, as registered.
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

impl LaunchError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { like: Some(like), .. } => Some(format!("did you mean `{like}`?")),
            Self::NotExecutable { program } => Some(format!(
                "chmod +x {program}, or name its interpreter first: command = [\"sh\", \"{program}\"]"
            )),
            _ => None,
        }
    }

    /// The last lines of what failed.
    pub fn lines(&self) -> &[String] {
        match self {
            Self::Build { lines, .. }
            | Self::Revision { lines, .. }
            | Self::Git { lines, .. }
            | Self::BuildCommand { lines, .. } => lines,
            _ => &[],
        }
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cargo(_) => f.write_str("failed to run cargo"),
            Self::Build { package, .. } => write!(f, "cargo did not build worker package `{package}`"),
            Self::Revision { revision, .. } => {
                write!(f, "no revision `{revision}` in the project's repository")
            }
            Self::Git { args, .. } => write!(f, "`git {}` failed", args.join(" ")),
            Self::Folder { path, .. } => write!(f, "failed to build in `{}`", path.display()),
            Self::BuildStart { command, .. } => write!(f, "failed to start build `{}`", command.join(" ")),
            Self::BuildCommand { command, status, .. } => {
                write!(f, "build `{}` ended with {status}", command.join(" "))
            }
            Self::NoBinary { package } => write!(f, "package `{package}` has no binary of that name"),
            Self::NotFound { what, program, .. } => {
                write!(f, "no {what} `{program}`, neither below the project's root nor on PATH")
            }
            Self::Unsupported { what, needs } => write!(f, "{what} is not supported here: it needs {needs}"),
            Self::NotExecutable { program } => write!(f, "`{program}` is not executable"),
            Self::Read { path, .. } => write!(f, "failed to read program `{}`", path.display()),
        }
    }
}

impl std::error::Error for LaunchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Cargo(source) | Self::Read { source, .. } => Some(source),
            Self::Folder { source, .. } | Self::BuildStart { source, .. } => Some(source),
            Self::Build { .. }
            | Self::Revision { .. }
            | Self::Git { .. }
            | Self::BuildCommand { .. }
            | Self::NoBinary { .. }
            | Self::NotFound { .. }
            | Self::Unsupported { .. }
            | Self::NotExecutable { .. } => None,
        }
    }
}

/// Builds or finds the program of `launch` below the project's `root`.
///
/// Cargo's own messages go to standard error as they come.
pub fn resolve(launch: &Launch, root: &Path) -> Result<Program, LaunchError> {
    resolve_in(launch, root, root)
}

/// The same with what lies in `folder`, another work tree of the project.
pub(super) fn resolve_in(launch: &Launch, folder: &Path, root: &Path) -> Result<Program, LaunchError> {
    match launch {
        Launch::Package(package) => program(build(package, folder, None)?, Vec::new(), root),
        Launch::Command(command) => of_line(command, false, folder, root, "worker"),
        Launch::Plain(commands) => of_line(&commands.command, commands.shell, folder, root, "command"),
    }
}

/// Finds the programs of what is run around the samples.
pub fn resolve_steps(commands: &Commands, root: &Path) -> Result<(), LaunchError> {
    for (_, step) in commands.before.each().chain(commands.after.each()) {
        line(step, commands.shell, root, "command")?;
    }
    Ok(())
}

/// Finds the program of a command; with `shell`, the shell.
pub(super) fn line(
    command: &[String],
    shell: bool,
    root: &Path,
    what: &'static str,
) -> Result<Program, LaunchError> {
    of_line(command, shell, root, root, what)
}

fn of_line(
    command: &[String],
    shell: bool,
    folder: &Path,
    root: &Path,
    what: &'static str,
) -> Result<Program, LaunchError> {
    let (first, args) = command.split_first().map_or(("", &[][..]), |(it, args)| (it.as_str(), args));
    match shell {
        true => program(find("sh", folder, what)?, vec!["-c".to_owned(), first.to_owned()], root),
        false => program(find(first, folder, what)?, args.to_vec(), root),
    }
}

/// The program at `path` with its digest.
pub(super) fn program(path: PathBuf, args: Vec<String>, root: &Path) -> Result<Program, LaunchError> {
    let binary = digest(&path)?;
    let shown = path.strip_prefix(root).map_or_else(|_| name(&path), |it| it.display().to_string());
    let shown = std::iter::once(shown).chain(args.iter().cloned()).collect();
    Ok(Program { path, args, shown, binary: Some(binary), folder: None, built: None })
}

/// A program outside the project is shown by its name only: its folder is the host's own affair.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Builds a package in `root`, into a target folder of its own if there is one; then its messages are kept for the case that
/// it fails.
pub(super) fn build(package: &Package, root: &Path, target: Option<&Path>) -> Result<PathBuf, LaunchError> {
    let name = &package.name;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    if let Some(target) = target {
        command.env("CARGO_TARGET_DIR", target).stderr(Stdio::piped());
    }
    let output = command
        .args(arguments(package))
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .map_err(LaunchError::Cargo)?;
    if !output.status.success() {
        let lines = build::last_lines(&output.stderr);
        return Err(LaunchError::Build { package: described(package), lines });
    }
    let mut executables = output.stdout.split(|it| *it == b'\n').filter_map(|line| {
        let message: serde_json::Value = serde_json::from_slice(line).ok()?;
        let target = message.get("target")?;
        let is_it = target.get("name")?.as_str()? == name && target.get("kind")?[0].as_str()? == "bin";
        is_it.then(|| message.get("executable")?.as_str().map(PathBuf::from))?
    });
    executables.next().ok_or_else(|| LaunchError::NoBinary { package: name.clone() })
}

pub(super) fn arguments(package: &Package) -> Vec<String> {
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

/// A program below `root`, or on PATH.
pub(super) fn find(program: &str, root: &Path, what: &'static str) -> Result<PathBuf, LaunchError> {
    let below = root.join(program);
    if below.is_file() {
        return match access(&below, Access::EXEC_OK) {
            Ok(()) => Ok(below),
            Err(_) => Err(LaunchError::NotExecutable { program: program.to_owned() }),
        };
    }
    on_path(program).ok_or_else(|| LaunchError::NotFound {
        what,
        program: program.to_owned(),
        like: like(program),
    })
}

/// The program of that name on `PATH`.
pub(super) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").filter(|_| !program.contains('/'))?;
    std::env::split_paths(&path).map(|it| it.join(program)).find(|it| is_program(it))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// The program on `PATH` whose name is most like `program`, if one is.
fn like(program: &str) -> Option<String> {
    if program.is_empty() || program.contains('/') {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).filter_map(|it| std::fs::read_dir(it).ok());
    let names: std::collections::BTreeSet<String> = folders
        .flat_map(Iterator::flatten)
        .filter_map(|it| Some((it.file_name().into_string().ok()?, it.path())))
        .filter(|(name, _)| strsim::damerau_levenshtein(name, program) <= 1 + program.len() / 6)
        .filter(|(_, path)| is_program(path))
        .map(|(name, _)| name)
        .collect();
    names.into_iter().min_by_key(|it| strsim::damerau_levenshtein(it, program))
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
