//! Passwords: where they are taken from, and that they go nowhere.

use crate::databases::{Server, with};
use crate::support::{Experiment, Project, rows, said};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const CANARY: &str = "canary-7f3a91";

/// A server with a database `perf`, and a user whose password is the canary.
fn server(project: &Project) -> Server {
    let server = Server::start(&project.outside("server"));
    rows(&server.trusting(), "create database perf");
    rows(&server.trusting(), &format!("create role carol login superuser password '{CANARY}'"));
    server
}

/// The folder of the server's socket.
fn folder(server: &Server) -> String {
    let url = server.trusting();
    url.split_once("host=").unwrap().1.split('&').next().unwrap().to_owned()
}

#[test]
fn what_the_url_leaves_open_is_taken_as_libpq_takes_it() {
    let project = Project::new();
    let server = server(&project);
    let folder = folder(&server);
    let url = format!("postgresql://carol@/perf?host={folder}");
    let migrate = |variables: &[(&str, &str)]| with(&project, variables, &["db", "migrate"]);
    let works = |variables: &[(&str, &str)]| {
        let told = migrate(variables);
        assert_eq!(told.code, Some(0), "{told}");
        assert!(!told.to_string().contains(CANARY), "{told}");
    };
    let fails = |variables: &[(&str, &str)], texts: &[&str]| {
        let told = migrate(variables);
        assert_eq!(told.code, Some(1), "{told}");
        told.complains(texts);
        assert!(!told.to_string().contains(CANARY), "{told}");
    };

    // Everything by variables, once a server was asked for.
    let all = [
        ("HARNESS_DATABASE_URL", "postgresql://"),
        ("PGHOST", &folder),
        ("PGUSER", "carol"),
        ("PGDATABASE", "perf"),
        ("PGPASSWORD", CANARY),
    ];
    works(&all);
    // They alone choose no server.
    let told = with(&project, &all[1..], &["db", "status"]);
    assert!(told.code == Some(0) && told.out.contains("the private cluster in"), "{told}");

    // The password file: its first line that fits, if nobody else can read it.
    let url = url.as_str();
    fails(&[("HARNESS_DATABASE_URL", url)], &["password missing", "has none for this server", "~/.pgpass"]);
    let home = project.outside("home");
    let file = home.join(".pgpass");
    let allow =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    std::fs::write(&file, format!("other:*:*:*:no\n{folder}:5432:perf:carol:{CANARY}\n*:*:*:*:late\n"))
        .unwrap();
    allow(&file, 0o644);
    fails(&[("HARNESS_DATABASE_URL", url)], &["is ignored: others may read it: chmod 0600"]);
    allow(&file, 0o600);
    works(&[("HARNESS_DATABASE_URL", url)]);
    fails(
        &[("HARNESS_DATABASE_URL", &url.replace("/perf", "/postgres"))],
        &["28P01", "which came from the password file"],
    );
    // What is nearer counts more: URL, variable, file.
    fails(&[("HARNESS_DATABASE_URL", url), ("PGPASSWORD", "wrong")], &["28P01", "PGPASSWORD"]);
    let own = url.replace("carol@", &format!("carol:{CANARY}@"));
    works(&[("HARNESS_DATABASE_URL", &own), ("PGPASSWORD", "wrong")]);
    // Another file, and a service.
    let other = project.outside("passwords");
    std::fs::rename(&file, &other).unwrap();
    works(&[("HARNESS_DATABASE_URL", url), ("PGPASSFILE", other.to_str().unwrap())]);
    let services = project.outside("services");
    std::fs::write(&services, format!("[perf]\nhost={folder}\nuser=carol\npassword={CANARY}\ndbname=perf\n"))
        .unwrap();
    works(&[
        ("HARNESS_DATABASE_URL", "service=perf"),
        ("PGSERVICEFILE", services.to_str().unwrap()),
        ("PGUSER", "nobody"),
    ]);
    let psql =
        said(project.command(&["db", "psql"]).env("HARNESS_DATABASE_URL", own).env("PSQLRC", "/dev/null"));
    assert_eq!(psql.code, Some(0), "{psql}");
}

/// Every file below a folder that has the text in it.
fn holders(folder: &Path, text: &str) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                if bytes.windows(text.len()).any(|it| it == text.as_bytes()) {
                    found.push(path.display().to_string());
                }
            }
        }
    }
    found
}

#[test]
fn a_password_goes_nowhere() {
    let project = Project::with(&Experiment::FASTER);
    let server = server(&project);
    let url = server.url(&format!("carol:{CANARY}"), "perf");
    let mut said_all = String::new();
    let mut tell = |args: &[&str], code: i32| {
        let told = said(project.command(args).env("HARNESS_DATABASE_URL", &url).env("PGPASSWORD", CANARY));
        assert_eq!(told.code, Some(code), "{told}");
        said_all.push_str(&told.to_string());
    };
    tell(&["db", "migrate", "-v"], 0);
    tell(&["db", "roles"], 0);
    tell(&["register", "faster", "-v"], 0);
    tell(&["run", "faster", "-v"], 0);
    for args in [&["list", "-v"][..], &["show", "faster"], &["db", "status", "-v"], &["db", "url"]] {
        tell(args, 0);
    }
    tell(&["run", "faster", "--help"], 0);
    tell(&["run", "slower"], 2);
    tell(&["db", "stop"], 2);
    rows(&server.trusting(), "checkpoint");
    server.kill();
    tell(&["run", "faster", "-v"], 1);
    let typed = project.harness(&["list", "--database-url", &url]);
    typed.complains(&["warning: every user of this machine can read the password", "~/.pgpass"]);
    assert_eq!(typed.err.matches("warning:").count(), 1);
    said_all.push_str(&typed.to_string());
    assert!(!said_all.contains(CANARY), "{said_all}");

    // Nothing in the project: no ledger, plot, evidence, state. Nothing in the server's own files, which hold every
    // row that was stored; only the hash of the password is there.
    assert_eq!(holders(&project.root, CANARY), [] as [String; 0]);
    assert!(holders(&project.root, "faster").len() > 3);
    let data = project.outside("server").join("pg/data");
    assert_eq!(holders(&data, CANARY), [] as [String; 0]);
    assert!(!holders(&data, "faster").is_empty(), "the rows are there to be searched");
}
