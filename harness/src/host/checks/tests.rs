use super::CHECKS;
use crate::host::doctor::{Finding, Fitness, Patient};
use crate::host::{Kernel, Moment};
use std::fs;
use std::path::Path;

fn patient(files: &[(&str, &str)], later: &[(&str, &str)]) -> Patient {
    let folder = tempfile::tempdir().unwrap();
    let kernel = Kernel::at(folder.path());
    write(folder.path(), files);
    let before = Moment::thorough(&kernel);
    write(folder.path(), later);
    let after = Moment::thorough(&kernel);
    // Its files are looked at later.
    Patient { kernel: Kernel::at(folder.keep()), before, after, clock_step: 20, counting: None }
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn look(name: &str, patient: &Patient) -> Finding {
    CHECKS.iter().find(|it| it.name == name).unwrap_or_else(|| panic!("no check {name}")).look(patient)
}

#[test]
fn a_kernel_that_hides_everything_is_called_hidden_never_fit() {
    let nothing = patient(&[], &[]);
    for check in CHECKS {
        assert_eq!(check.look(&nothing).fitness, Fitness::Hidden, "{}", check.name);
    }
}

#[test]
fn a_kernel_that_tells_nonsense_is_not_believed() {
    let mut files: Vec<(String, &str)> = Vec::new();
    for path in [
        "proc/loadavg",
        "proc/stat",
        "proc/vmstat",
        "proc/7/stat",
        "proc/pressure/cpu",
        "proc/self/cgroup",
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
        "sys/kernel/mm/transparent_hugepage/enabled",
    ] {
        files.push((path.to_owned(), "\u{0}(((]["));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let nonsense = patient(&files, &files);
    for name in ["load", "other processes", "pressure", "steal time", "swapping", "heat", "huge pages"] {
        assert_eq!(look(name, &nonsense).fitness, Fitness::Hidden, "{name}");
    }
}

#[test]
fn a_quiet_machine_is_fit_and_a_busy_one_is_not() {
    let cpu = "sys/devices/system/cpu";
    let both = |name: &str, quiet: &[(&str, &str)], busy: &[(&str, &str)]| {
        assert_eq!(look(name, &patient(quiet, &[])).fitness, Fitness::Fit, "{name}");
        let it = look(name, &patient(busy, &[]));
        assert_eq!(it.fitness, Fitness::Unfit, "{name}");
        assert!(!it.advice.is_empty(), "{name}");
    };
    both("load", &[("proc/loadavg", "0.10 0 0")], &[("proc/loadavg", "3.00 0 0")]);
    let psi = "some avg10=";
    both(
        "pressure",
        &[("proc/pressure/cpu", &format!("{psi}0.00 avg60=9"))],
        &[("proc/pressure/io", &format!("{psi}60.00 avg60=0"))],
    );
    let governor = format!("{cpu}/cpu0/cpufreq/scaling_governor");
    both("governor", &[(&governor, "performance\n")], &[(&governor, "powersave\n")]);
    let boost = format!("{cpu}/cpufreq/boost");
    both("turbo", &[(&boost, "0")], &[(&boost, "1")]);
    both(
        "turbo",
        &[(&format!("{cpu}/intel_pstate/no_turbo"), "1"), (&boost, "1")],
        &[(&format!("{cpu}/intel_pstate/no_turbo"), "0")],
    );
    let smt = format!("{cpu}/smt/active");
    both("hyper-threads", &[(&smt, "0")], &[(&smt, "1")]);
    both(
        "processor quota",
        &[("proc/self/cgroup", "0::/a/b"), ("sys/fs/cgroup/a/b/cpu.max", "max 100000")],
        // The quota is that of the group above.
        &[
            ("proc/self/cgroup", "0::/a/b"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000"),
            ("sys/fs/cgroup/a/cpu.max", "50000 100000"),
        ],
    );
    both(
        "processor quota",
        &[("proc/self/cgroup", "2:cpu,cpuacct:/x"), ("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1")],
        &[("proc/self/cgroup", "2:cpu,cpuacct:/x"), ("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "20000")],
    );
    let status = "sys/class/power_supply/BAT0/status";
    both("power supply", &[(status, "Charging")], &[(status, "Discharging")]);
    let aslr = "proc/sys/kernel/randomize_va_space";
    both("address layout", &[(aslr, "2")], &[(aslr, "0")]);
    let pages = "sys/kernel/mm/transparent_hugepage/enabled";
    both("huge pages", &[(pages, "always [madvise] never")], &[(pages, "[always] madvise never")]);
    let info = "proc/cpuinfo";
    both("virtualisation", &[(info, "flags\t: fpu sse")], &[(info, "flags\t: fpu hypervisor sse")]);
    let source = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    both("clock", &[(source, "tsc")], &[(source, "hpet")]);
}

#[test]
fn counters_are_judged_by_counting() {
    let found =
        |counting| look("hardware counters", &Patient { counting: Some(counting), ..patient(&[], &[]) });
    assert_eq!(found(Ok(())).fitness, Fitness::Fit);
    let none = found(Err("a processor that shows its counter".to_owned()));
    assert_eq!(none.fitness, Fitness::Unfit);
    assert!(none.found.contains("a processor that shows") && none.advice.contains("Callgrind"), "{none:?}");
}

#[test]
fn what_happens_between_two_looks_counts_not_what_was_before() {
    let stat = "proc/stat";
    let old = "cpu  100 0 100 700 0 0 0 100";
    let heat = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
    let calm = [
        (stat, old),
        ("proc/vmstat", "pswpin 5\npswpout 5"),
        (heat, "9"),
        ("proc/42/stat", "42 (a) b) S 0 0 0 0 0 0 0 0 0 0 900 0"),
    ];
    let quiet = [(stat, "cpu  100 0 100 800 0 0 0 100")];
    for name in ["steal time", "swapping", "heat", "other processes"] {
        assert_eq!(look(name, &patient(&calm, &quiet)).fitness, Fitness::Fit, "{name}");
    }
    let stolen = patient(&calm, &[(stat, "cpu  100 0 100 775 0 0 0 125")]);
    assert_eq!(look("steal time", &stolen).found, "25.0 % of the last second");
    let swapped = patient(&calm, &[("proc/vmstat", "pswpin 6\npswpout 7")]);
    assert_eq!(look("swapping", &swapped).found, "3 pages in the last second");
    assert_eq!(look("heat", &patient(&calm, &[(heat, "10")])).fitness, Fitness::Unfit);
    let busy = [quiet[0], ("proc/42/stat", "42 (a) b) S 0 0 0 0 0 0 0 0 0 0 940 10")];
    let found = look("other processes", &patient(&calm, &busy)).found;
    assert!(found.starts_with("a) b "), "{found}");
}
