//! The command: what it prints, what it writes, and how it ends.

use super::root;
use std::path::Path;
use std::process::{Command, Output};

fn harness(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_harness"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A project with an audit in it.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("experiments/audits")).unwrap();
    let from = root("experiments/audits/suffix.toml");
    std::fs::copy(from, folder.path().join("experiments/audits/suffix.toml")).unwrap();
    folder
}

#[test]
fn a_table_is_audited_where_there_is_no_project() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(root("experiments/audits/codec.toml"), folder.path().join("codec.toml")).unwrap();
    let text = harness(folder.path(), &["audit", "codec.toml"]);
    assert_eq!(text.status.code(), Some(0));
    let last = "34 claims: 3 agrees, 2 within rounding, 27 does not follow, 2 cannot be checked";
    assert_eq!(stdout(&text).lines().last(), Some(last));
    let gated = harness(folder.path(), &["audit", "codec.toml", "--gate"]);
    assert_eq!(gated.status.code(), Some(3));

    let json = harness(folder.path(), &["audit", "codec.toml", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["counts"]["does not follow"], 27);
    assert_eq!(json["claims"].as_array().unwrap().len(), 34);
    let csv = stdout(&harness(folder.path(), &["audit", "codec.toml", "--format", "csv"]));
    assert_eq!(csv.lines().count(), 35);
    assert!(csv.starts_with("claim,kind,claimed,recomputed,"), "{csv}");
    let page = stdout(&harness(folder.path(), &["audit", "codec.toml", "--format", "markdown"]));
    assert_eq!(page, std::fs::read_to_string(root("ledgers/audit-codec.md")).unwrap());
}

#[test]
fn a_page_is_written_and_checked() {
    let folder = project();
    let file = "experiments/audits/suffix.toml";
    let at = |name: &str| folder.path().join("ledgers").join(name);
    assert_eq!(harness(folder.path(), &["audit", file, "--check"]).status.code(), Some(1));
    let written = harness(folder.path(), &["audit", file, "--write", "--gate"]);
    assert_eq!((written.status.code(), stdout(&written).trim()), (Some(0), "ledgers/audit-suffix.md"));
    let page = std::fs::read_to_string(at("audit-suffix.md")).unwrap();
    assert_eq!(page, std::fs::read_to_string(root("ledgers/audit-suffix.md")).unwrap());
    // From another folder of the project, the same page.
    let inside = folder.path().join("experiments/audits");
    assert_eq!(harness(&inside, &["audit", "suffix.toml", "--check"]).status.code(), Some(0));
    assert_eq!(
        harness(&inside, &["audit", "suffix.toml", "--write", "--page", "../x"]).status.code(),
        Some(0)
    );
    let names: Vec<_> =
        std::fs::read_dir(folder.path().join("ledgers")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(!folder.path().join("x.md").exists());
}

#[test]
fn what_cannot_be_read_is_a_wrong_use() {
    let folder = project();
    std::fs::write(folder.path().join("bad.toml"), "[source]\ntitel = 1\n").unwrap();
    let bad = harness(folder.path(), &["audit", "bad.toml"]);
    assert_eq!(bad.status.code(), Some(2));
    let said = String::from_utf8(bad.stderr).unwrap();
    assert!(
        said.contains("bad.toml:2:1: unknown key `titel`") && said.contains("`claims` is missing"),
        "{said}"
    );
    std::fs::write(folder.path().join("binary.toml"), [0xff, 0xfe]).unwrap();
    for args in [
        &["audit", "none.toml"][..],
        &["audit", "binary.toml"],
        &["audit", "."],
        &["audit", "experiments/audits/suffix.toml", "--page", "x"],
    ] {
        assert_eq!(harness(folder.path(), args).status.code(), Some(2), "{args:?}");
    }
}
