use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// No file of the kernel is read further than this, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// What the kernel tells in files, `/proc` and `/sys`, below a root that a test can make.
#[derive(Clone, Debug)]
pub struct Kernel {
    root: PathBuf,
}

impl Default for Kernel {
    fn default() -> Self {
        Self::at("/")
    }
}

impl Kernel {
    /// The files below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The text of a file without white space around it; `None` if it is not there, may not be read or is empty.
    /// `path` begins without a slash.
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        let mut text = Vec::new();
        File::open(self.root.join(path)).ok()?.take(LONGEST).read_to_end(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A file that holds one number.
    pub fn number(&self, path: impl AsRef<Path>) -> Option<f64> {
        self.read(path)?.parse().ok().filter(|it: &f64| it.is_finite())
    }

    /// The names in a folder, sorted; none if it cannot be read.
    pub fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The names of the folders of all processors, `cpu0` and on, as far as the kernel shows them.
    pub fn processors(&self) -> Vec<String> {
        let mut names = self.names("sys/devices/system/cpu");
        names.retain(|it| {
            it.strip_prefix("cpu")
                .is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
        });
        names
    }

    /// A share of the time, 0 to 1, in which something waited for a resource (`cpu`, `memory` or `io`), over the last
    /// ten seconds.
    pub fn pressure(&self, resource: &str) -> Option<f64> {
        let text = self.read(format!("proc/pressure/{resource}"))?;
        let some = text.lines().find_map(|it| it.strip_prefix("some "))?;
        let percent = some.split_whitespace().find_map(|it| it.strip_prefix("avg10="))?;
        percent.parse().ok().map(|it: f64| it / 100.0).filter(|it| (0.0..=1.0).contains(it))
    }

    /// Microseconds in which some task waited for a processor, since the machine began.
    pub fn waited(&self) -> Option<u64> {
        let text = self.read("proc/pressure/cpu")?;
        let some = text.lines().find_map(|it| it.strip_prefix("some "))?;
        some.split_whitespace().find_map(|it| it.strip_prefix("total="))?.parse().ok()
    }

    /// How often a process had to give its processor away.
    pub fn switches(&self, process: u32) -> Option<u64> {
        counter(&self.read(format!("proc/{process}/status"))?, "nonvoluntary_ctxt_switches")
    }

    /// The load average of the last minute.
    pub fn load(&self) -> Option<f64> {
        let text = self.read("proc/loadavg")?;
        text.split_whitespace().next()?.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0)
    }

    /// A counter of `proc/vmstat`.
    pub fn vmstat(&self, name: &str) -> Option<u64> {
        counter(&self.read("proc/vmstat")?, name)
    }

    /// The mean of the present frequencies of all processors, in MHz.
    pub fn frequency(&self) -> Option<f64> {
        let scaling = |cpu: &String| {
            let path = format!("sys/devices/system/cpu/{cpu}/cpufreq/scaling_cur_freq");
            Some(self.number(path)? / 1_000.0)
        };
        let all: Vec<f64> = self.processors().iter().filter_map(scaling).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }
}

/// The number after a name at the beginning of a line.
fn counter(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()?.trim_end_matches(':') == name).then(|| words.next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = Kernel::at(folder.path());
        assert_eq!(kernel.read("proc/loadavg"), None);
        assert_eq!(kernel.pressure("cpu"), None);
        assert_eq!(kernel.load(), None);
        assert_eq!(kernel.frequency(), None);
        assert!(kernel.processors().is_empty());
    }

    #[test]
    fn garbage_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("proc/pressure")).unwrap();
        for (path, text) in [
            ("proc/loadavg", "NaN x"),
            ("proc/pressure/cpu", "some avg10=-3.00 avg60=0"),
            ("proc/vmstat", "pswpin many\npswpout 7"),
        ] {
            fs::write(folder.path().join(path), text).unwrap();
        }
        let kernel = Kernel::at(folder.path());
        assert_eq!((kernel.load(), kernel.pressure("cpu")), (None, None));
        assert_eq!((kernel.vmstat("pswpin"), kernel.vmstat("pswpout")), (None, Some(7)));
    }
}
