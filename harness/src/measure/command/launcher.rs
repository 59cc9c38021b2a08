//! A small process between the harness and a command whose largest resident set is measured.
//!
//! The kernel counts in a process's largest resident set what was resident in it before it became another program: the pages of
//! whoever forked it. Forked by a process that has done nothing yet, that is less than any program takes; what there is of it is
//! told, so that a number that may not be the command's own can be refused.

use crate::probe::{Usage, reap};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::OnceLock;
use std::time::Instant;

/// The first argument of a program that is to be a launcher. The second is where it reports to, the rest is the command.
const MARK: &str = "--launch-and-account";

/// This program, if it can be a launcher.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Serves as a launcher, if this process was started as one. For the beginning of the `main` of a program that measures commands;
/// one that does not call it has no `peak-rss` of commands smaller than itself.
pub fn serve_as_launcher() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_none_or(|it| it != MARK) {
        if let Ok(this) = std::env::current_exe() {
            PROGRAM.get_or_init(|| this);
        }
        return None;
    }
    let (Some(report), Some(program)) = (args.next(), args.next()) else { return Some(ExitCode::FAILURE) };
    // Its exit code is told in the report, and a failure to start by there being none.
    let served = serve(Path::new(&report), &program, args);
    Some(if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn serve(report: &Path, program: &OsString, args: impl Iterator<Item = OsString>) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(args);
    // SAFETY: the hook does nothing at all, so it cannot break what must not be done between fork and exec. That there is one
    // makes a fork of what else would share this process's memory; `a_small_command_has_a_peak_of_its_own` would see that.
    unsafe { command.pre_exec(|| Ok(())) };
    let start = Instant::now();
    let child = command.spawn()?;
    let (status, mut usage) = reap(child.id())?;
    usage.wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let Usage { wall_ns, user_us, system_us, peak_rss, minor_faults, major_faults, .. } = usage;
    let (given, taken, floor) = (usage.voluntary_switches, usage.involuntary_switches, anonymous()?);
    let status = status.into_raw();
    let numbers = format!(
        "{status} {wall_ns} {user_us} {system_us} {peak_rss} {minor_faults} {major_faults} {given} {taken} {floor}"
    );
    fs::write(report, numbers)
}

/// The bytes of this process that a fork of it has from the beginning: those that are in no file.
fn anonymous() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/self/statm")?;
    let mut pages = text.split_whitespace().skip(1).filter_map(|it| it.parse::<u64>().ok());
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    Ok(resident.saturating_sub(shared).saturating_mul(rustix::param::page_size() as u64))
}

/// Starts commands by launchers.
pub(super) struct Launcher {
    program: PathBuf,
    report: PathBuf,
}

/// What a launcher tells of its command.
#[derive(Debug, PartialEq)]
pub(super) struct Report {
    pub(super) status: ExitStatus,
    pub(super) usage: Usage,
    /// What may have been resident before it became the command, in bytes.
    pub(super) floor: u64,
}

impl Launcher {
    /// One that keeps its reports in `scratch`; `None` if this program cannot be one.
    pub(super) fn new(scratch: &Path) -> io::Result<Option<Self>> {
        let Some(program) = PROGRAM.get() else { return Ok(None) };
        fs::create_dir_all(scratch)?;
        let report = scratch.canonicalize()?.join("launched");
        Ok(Some(Self { program: program.clone(), report }))
    }

    /// The command that launches `program`; its arguments are added by the caller.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(MARK).arg(&self.report).arg(program);
        command
    }

    /// What the launcher that has just ended reports, or why there is nothing.
    pub(super) fn report(&self) -> Result<Report, String> {
        let text = fs::read_to_string(&self.report).map_err(|it| format!("it was not launched: {it}"))?;
        // The next one is another launcher's.
        fs::remove_file(&self.report)
            .map_err(|it| format!("the report of its launcher cannot be removed: {it}"))?;
        read(&text).ok_or_else(|| "the report of its launcher cannot be read".to_owned())
    }
}

fn read(text: &str) -> Option<Report> {
    let (status, rest) = text.split_once(' ')?;
    let numbers: Vec<u64> = rest.split(' ').map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let [wall_ns, user_us, system_us, peak_rss, minor_faults, major_faults, given, taken, floor] =
        numbers[..]
    else {
        return None;
    };
    let usage = Usage {
        wall_ns,
        user_us,
        system_us,
        peak_rss,
        minor_faults,
        major_faults,
        voluntary_switches: given,
        involuntary_switches: taken,
    };
    Some(Report { status: ExitStatus::from_raw(status.parse().ok()?), usage, floor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_reports_what_the_kernel_accounted_to_its_command() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report");
        let args = ["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 7"].map(OsString::from);
        serve(&report, &"sh".into(), args.into_iter()).unwrap();
        let told = read(&fs::read_to_string(&report).unwrap()).unwrap();
        assert_eq!(told.status.code(), Some(7));
        let Usage { wall_ns, user_us, peak_rss, minor_faults, .. } = told.usage;
        assert!(wall_ns > 1_000_000 && user_us > 1_000 && minor_faults > 20, "{told:?}");
        assert!((100 << 10..4 << 30).contains(&peak_rss) && told.floor > 0, "{told:?}");
        assert!(serve(&folder.path().join("none"), &"/no/such/program".into(), std::iter::empty()).is_err());
        assert!(!folder.path().join("none").exists());
        assert_eq!(read("0 1 2"), None);
        assert_eq!(read("x 1 2 3 4 5 6 7 8 9"), None);
    }
}
