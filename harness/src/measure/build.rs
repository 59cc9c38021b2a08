//! Programs that are built for an arm: from a revision of the project in a work tree of its own, or by a command.
//!
//! A revision is built in `.harness/builds/<commit>-<key>/` of the project, where the key is made of everything else that
//! the build depends on: the same build is made once. What was built by a command is run where it was built, since it may
//! read what lies beside it; of a package only the binary is kept. A build that fails leaves nothing behind.

use super::launch::{self, LaunchError, Program};
use super::revision;
use crate::prereg::{Arm, Commands, Launch};
use crate::vocab::Digest;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How many of the last lines of a build that failed are shown.
const LAST_LINES: usize = 20;

/// Where a build finds what order it is to be linked in.
const SALT: &str = "HARNESS_BUILD_SALT";

/// How a program was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    /// The commit that was built; `None`: the work tree as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Program and arguments of the build.
    pub command: Vec<String>,
    /// What cargo adds to the compiler's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<String>,
    /// The compiler's version, where it is known which one is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// By what the order of its functions was shuffled. `None`: as the linker puts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<u32>,
}

/// What there is to build.
struct Recipe<'a> {
    launch: &'a Launch,
    /// Of an arm's own; a package is built by cargo.
    command: Option<&'a [String]>,
    flags: Option<String>,
    salt: Option<u32>,
}

/// Builds or finds the program of `arm` below the project's `root`; `launch` is the experiment's, for arms without their own.
/// With `salts` it is built once for each of them.
///
/// `note` is told what takes long.
pub fn resolve_arm(
    launch: &Launch,
    arm: &Arm,
    salts: &[u32],
    root: &Path,
    note: &mut dyn FnMut(&str),
) -> Result<Program, LaunchError> {
    let own = arm.command.as_ref().map(|it| own(launch, it));
    let mut recipe = Recipe {
        launch: own.as_ref().unwrap_or(launch),
        command: arm.build.as_deref(),
        flags: std::env::var("RUSTFLAGS").ok().filter(|it| !it.is_empty()),
        salt: salts.first().copied(),
    };
    let mut first = one(&recipe, arm, root, note)?;
    for salt in salts.iter().skip(1) {
        recipe.salt = Some(*salt);
        first.others.push(one(&recipe, arm, root, note)?);
    }
    let builds: Vec<&Program> = first.builds().collect();
    for (i, build) in builds.iter().enumerate() {
        if let Some(same) = builds[..i].iter().position(|it| it.binary == build.binary) {
            let command = build.built.as_ref().map(|it| it.command.clone()).unwrap_or_default();
            return Err(LaunchError::SameBuild { builds: [same + 1, i + 1], command });
        }
    }
    Ok(first)
}

fn one(
    recipe: &Recipe<'_>,
    arm: &Arm,
    root: &Path,
    note: &mut dyn FnMut(&str),
) -> Result<Program, LaunchError> {
    let name = &arm.name;
    let order = recipe.salt.map_or_else(String::new, |it| format!(", linked in order {it}"));
    match (&arm.git, recipe.command) {
        (Some(revision), _) => at_revision(recipe, revision, root, &mut |commit| {
            let commit = &commit[..12.min(commit.len())];
            note(&format!("building arm {name} at {revision}, commit {commit}{order}"));
        }),
        (None, Some(command)) => {
            note(&format!("building arm {name}: {}", command.join(" ")));
            run(command, root, recipe)?;
            let program = launch::resolve(recipe.launch, root)?;
            Ok(Program { built: Some(built(recipe, None, root)), ..program })
        }
        (None, None) => {
            if let Launch::Package(package) = recipe.launch {
                note(&format!("building worker {}{order}", launch::described(package)));
                if recipe.salt.is_some() {
                    let binary = launch::build(package, recipe.salt, root, None)?;
                    let program = launch::program(keep(&binary, root)?, Vec::new(), root)?;
                    return Ok(Program { built: Some(built(recipe, None, root)), ..program });
                }
            }
            launch::resolve(recipe.launch, root)
        }
    }
}

fn at_revision(
    recipe: &Recipe<'_>,
    revision: &str,
    root: &Path,
    note: &mut dyn FnMut(&str),
) -> Result<Program, LaunchError> {
    let commit = revision::commit(root, revision)?;
    let place = Place::of(recipe, &commit, root)?;
    let _held = place.hold()?;
    let known = place.known();
    let built = match &known {
        Some(built) => built.clone(),
        None => {
            note(&commit);
            // Whatever is there was left by a build that was killed.
            revision::remove(root, &place.tree, &place.folder)?;
            let made = place.make(recipe, &commit, root);
            if made.is_err() {
                // The build's own failure is what is reported.
                let _ = revision::remove(root, &place.tree, &place.folder);
            }
            made?
        }
    };
    let program = match recipe.launch {
        Launch::Package(_) => launch::program(place.worker(), Vec::new(), root)?,
        Launch::Command(_) | Launch::Plain(_) => {
            let program = launch::resolve_in(recipe.launch, &place.project, root)?;
            Program { folder: Some(place.project.clone()), ..program }
        }
    };
    Ok(Program { built: Some(built), ..program })
}

/// A copy of a binary that the next build would overwrite, named by its digest.
fn keep(binary: &Path, root: &Path) -> Result<PathBuf, LaunchError> {
    let digest = launch::digest(binary)?;
    let kept = root.join(".harness/builds").join(format!("worker-{}", digest.short()));
    let failed = |source| LaunchError::Folder { path: kept.clone(), source };
    if !kept.exists() {
        fs::create_dir_all(kept.parent().unwrap_or(root)).map_err(failed)?;
        // Whoever is killed here leaves no half of a program.
        let half = kept.with_extension(std::process::id().to_string());
        fs::copy(binary, &half).and_then(|_| fs::rename(&half, &kept)).map_err(failed)?;
    }
    Ok(kept)
}

/// Where a revision is built.
struct Place {
    folder: PathBuf,
    tree: PathBuf,
    /// The project within the work tree: it need not be the whole repository.
    project: PathBuf,
}

impl Place {
    fn of(recipe: &Recipe<'_>, commit: &str, root: &Path) -> Result<Self, LaunchError> {
        let (package, command) = match recipe.launch {
            Launch::Package(package) => (launch::described(package), &[][..]),
            Launch::Command(command) => (String::new(), command.as_slice()),
            Launch::Plain(commands) => (String::new(), commands.command.as_slice()),
        };
        // Of a command the tree is kept, whatever is run in it; of a package one binary.
        let what = if command.is_empty() { package } else { "tree".to_owned() };
        let compiler = compiler(root);
        let key = Digest::of(format!(
            "{what:?} {:?} {:?} {compiler:?} {:?}",
            recipe.command, recipe.flags, recipe.salt
        ))
        .short();
        let folder =
            root.join(".harness/builds").join(format!("{}-{}", &commit[..12.min(commit.len())], &key[..8]));
        let tree = folder.join("tree");
        let project = tree.join(revision::prefix(root)?);
        Ok(Self { folder, tree, project })
    }

    /// Until the file is dropped, no other process builds here.
    fn hold(&self) -> Result<fs::File, LaunchError> {
        let lock = self.folder.with_extension("lock");
        let failed = |source| LaunchError::Folder { path: lock.clone(), source };
        fs::create_dir_all(self.folder.parent().unwrap_or(&self.folder)).map_err(failed)?;
        let file = fs::File::create(&lock).map_err(failed)?;
        flock(&file, FlockOperation::LockExclusive).map_err(|it| failed(it.into()))?;
        Ok(file)
    }

    fn worker(&self) -> PathBuf {
        self.folder.join("worker")
    }

    fn record(&self) -> PathBuf {
        self.folder.join("built.json")
    }

    /// How it was built, if it was: the record is written last.
    fn known(&self) -> Option<Built> {
        serde_json::from_slice(&fs::read(self.record()).ok()?).ok()
    }

    fn make(&self, recipe: &Recipe<'_>, commit: &str, root: &Path) -> Result<Built, LaunchError> {
        let failed = |source| LaunchError::Folder { path: self.folder.clone(), source };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        revision::check_out(root, commit, &self.tree)?;
        let missing = || io::Error::other("the revision has no such folder");
        if !self.project.is_dir() {
            return Err(LaunchError::Folder { path: self.project.clone(), source: missing() });
        }
        if let Some(command) = recipe.command {
            run(command, &self.project, recipe)?;
        }
        if let Launch::Package(package) = recipe.launch {
            let target = self.folder.join("target");
            let binary = launch::build(package, recipe.salt, &self.project, Some(&target))?;
            fs::copy(binary, self.worker()).map_err(failed)?;
        }
        let built = built(recipe, Some(commit.to_owned()), &self.project);
        if matches!(recipe.launch, Launch::Package(_)) {
            revision::remove(root, &self.tree, &self.tree)?;
            fs::remove_dir_all(self.folder.join("target")).map_err(failed)?;
        }
        let record = serde_json::to_vec_pretty(&built).map_err(|it| failed(it.into()))?;
        fs::write(self.record(), record).map_err(failed)?;
        Ok(built)
    }
}

fn built(recipe: &Recipe<'_>, commit: Option<String>, folder: &Path) -> Built {
    let (command, compiler) = match (recipe.command, recipe.launch) {
        (Some(command), _) => (command.to_vec(), None),
        (None, Launch::Package(package)) => {
            let cargo = std::iter::once("cargo".to_owned());
            (cargo.chain(launch::arguments(package, recipe.salt, &[])).collect(), compiler(folder))
        }
        (None, Launch::Command(_) | Launch::Plain(_)) => (Vec::new(), None),
    };
    let flags = recipe.flags.clone().filter(|_| !command.is_empty());
    Built { commit, flags, command, compiler, salt: recipe.salt }
}

fn compiler(folder: &Path) -> Option<String> {
    let output = Command::new("rustc").arg("--version").current_dir(folder).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a build's command in `folder`, both outputs kept for the case that it fails.
fn run(command: &[String], folder: &Path, recipe: &Recipe<'_>) -> Result<(), LaunchError> {
    let (program, args) = command.split_first().map_or(("", &[][..]), |(it, rest)| (it.as_str(), rest));
    let program_path = launch::find(program, folder, "build")?;
    let mut process = Command::new(program_path);
    process.args(args).current_dir(folder).stdin(Stdio::null()).env_remove("CARGO_TARGET_DIR");
    if let Some(flags) = &recipe.flags {
        process.env("RUSTFLAGS", flags);
    }
    // A variable of the user's own would make builds that should be equal differ.
    process.env_remove(SALT);
    if let Some(salt) = recipe.salt {
        process.env(SALT, salt.to_string());
    }
    let output =
        process.output().map_err(|source| LaunchError::BuildStart { command: command.to_vec(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let lines = last_lines(&[&output.stdout[..], &output.stderr[..]].concat());
    Err(LaunchError::BuildCommand { command: command.to_vec(), status: output.status, lines })
}

/// What an arm with a command of its own is launched with.
fn own(shared: &Launch, command: &[String]) -> Launch {
    match shared {
        Launch::Plain(commands) => {
            Launch::Plain(Box::new(Commands { command: command.to_vec(), ..(**commands).clone() }))
        }
        Launch::Package(_) | Launch::Command(_) => Launch::Command(command.to_vec()),
    }
}

/// The last lines of a build's output that are not empty.
pub(super) fn last_lines(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].iter().map(|it| (*it).to_owned()).collect()
}
