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
    /// The same built again, each linked in another order; empty unless the design asks for several builds.
    pub others: Vec<Program>,
}

impl Program {
    /// One of its builds, counted from 0.
    pub(super) fn build(&self, index: u32) -> &Self {
        let other = usize::try_from(index).ok().and_then(|it| self.others.get(it.checked_sub(1)?));
        other.unwrap_or(self)
    }

    /// All its builds.
    pub fn builds(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }
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
    /// Two builds that should differ in the order of linking are the same.
    SameBuild {
        /// Their numbers, from 1.
        builds: [usize; 2],
        /// Program and arguments of the build.
        command: Vec<String>,
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
        what: String,
        /// What is missing.
        needs: String,
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
            Self::SameBuild { .. } => Some(
                "the build must pass HARNESS_BUILD_SALT on to a linker that shuffles: \
                      `-fuse-ld=lld -Wl,--shuffle-sections=.text*=$HARNESS_BUILD_SALT`"
                    .to_owned(),
            ),
            Self::Build { lines, .. } | Self::BuildCommand { lines, .. }
                if lines.iter().any(|it| it.contains("shuffle-sections")) =>
            {
                Some("`builds` in [design] takes a linker that shuffles: lld".to_owned())
            }
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
            Self::SameBuild { builds: [a, b], command } => {
                write!(f, "builds {a} and {b} by `{}` are the same program", command.join(" "))
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
            | Self::SameBuild { .. }
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
        Launch::Package(package) => program(build(package, None, folder, None)?, Vec::new(), root),
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
    Ok(Program { path, args, shown, binary: Some(binary), folder: None, built: None, others: Vec::new() })
}

/// A program outside the project is shown by its name only: its folder is the host's own affair.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Builds a package in `root`, into a target folder of its own if there is one; then its messages are kept for the case that
/// it fails. With a `salt` its functions are linked in the order that follows from that.
pub(super) fn build(
    package: &Package,
    salt: Option<u32>,
    root: &Path,
    target: Option<&Path>,
) -> Result<PathBuf, LaunchError> {
    let name = &package.name;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    if let Some(target) = target {
        command.env("CARGO_TARGET_DIR", target).stderr(Stdio::piped());
    }
    let output = command
        .args(arguments(package, salt, &["--message-format", "json-render-diagnostics"]))
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

/// What cargo is told; `more` are arguments of cargo's own.
pub(super) fn arguments(package: &Package, salt: Option<u32>, more: &[&str]) -> Vec<String> {
    let profile = package.profile.as_deref().unwrap_or("release");
    // With `rustc` the arguments after the dashes are those of the last step alone, so that no dependency is built anew.
    let command = if salt.is_some() { "rustc" } else { "build" };
    let mut arguments = [command, "--profile", profile, "--package", &package.name, "--bin", &package.name]
        .map(str::to_owned)
        .to_vec();
    if !package.features.is_empty() {
        arguments.extend(["--features".to_owned(), package.features.join(",")]);
    }
    arguments.extend(more.iter().map(|it| (*it).to_owned()));
    if let Some(salt) = salt {
        let shuffle = format!("link-arg=-Wl,--shuffle-sections=.text*={salt}");
        arguments.extend(["--".to_owned(), "-C".to_owned(), shuffle]);
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

pub(super) fn digest(path: &Path) -> Result<Digest, LaunchError> {
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
        assert_eq!(arguments(&usual, None, &[]).join(" "), "build --profile release --package w --bin w");
        assert_eq!(
            arguments(&usual, Some(7), &["-q"]).join(" "),
            "rustc --profile release --package w --bin w -q -- -C link-arg=-Wl,--shuffle-sections=.text*=7"
        );
        assert_eq!(described(&usual), "w");
        let other = Package { features: vec!["a".into(), "b".into()], profile: Some("fat".into()), ..usual };
        assert_eq!(
            arguments(&other, None, &[]).join(" "),
            "build --profile fat --package w --bin w --features a,b"
        );
        assert_eq!(described(&other), "w --features a,b --profile fat");
    }
}
