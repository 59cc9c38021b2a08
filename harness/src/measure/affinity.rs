//! The processors that workers run on.

use crate::prereg::Pin;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;
use std::process::{Child, Command};

/// The processors that this process may use, ascending; none if the system does not tell.
pub fn allowed() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    let most = u32::try_from(CpuSet::MAX_CPU).unwrap_or(u32::MAX);
    (0..most).filter(|it| set.is_set(*it as usize)).collect()
}

/// The processors that a registration asks for; none if it does not care.
pub fn cores(pin: Option<&Pin>) -> Vec<u32> {
    match pin {
        None => Vec::new(),
        Some(Pin::One) => allowed().last().copied().into_iter().collect(),
        Some(Pin::Cores(cores)) => cores.clone(),
    }
}

/// Starts a process that may use these processors only, from its first instruction on; any, if there are none.
///
/// A child has the affinity of the thread that starts it, so this thread takes it on for that time.
pub(super) fn spawn(command: &mut Command, cores: &[u32]) -> io::Result<Child> {
    if cores.is_empty() {
        return command.spawn();
    }
    let before = sched_getaffinity(None)?;
    let mut set = CpuSet::new();
    cores.iter().filter(|it| (**it as usize) < CpuSet::MAX_CPU).for_each(|it| set.set(*it as usize));
    sched_setaffinity(None, &set)?;
    let child = command.spawn();
    sched_setaffinity(None, &before)?;
    child
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn a_child_is_kept_on_its_processor_and_the_parent_is_not() {
        let all = allowed();
        let last = cores(Some(&Pin::One));
        assert_eq!(last.len(), 1);
        let mut command = Command::new("grep");
        command.args(["Cpus_allowed_list", "/proc/self/status"]).stdout(Stdio::piped());
        let output = spawn(&mut command, &last).unwrap().wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.split_whitespace().last(), Some(last[0].to_string().as_str()));
        assert_eq!(allowed(), all);
    }

    #[test]
    fn a_processor_that_is_not_there_is_an_error_and_changes_nothing() {
        let all = allowed();
        assert!(spawn(&mut Command::new("true"), &[1_000]).is_err());
        assert_eq!(allowed(), all);
    }
}
