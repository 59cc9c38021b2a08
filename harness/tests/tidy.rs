//! The repository's own rules, as tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which module of `harness` may import which: imports point back in reading order, never forward.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("vocab", &[]),
    ("worker", &["vocab"]),
    ("stats", &[]),
    ("probe", &["vocab"]),
    ("prereg", &["vocab", "probe"]),
    ("plan", &["vocab", "stats", "prereg"]),
    ("store", &["vocab"]),
    ("spool", &["vocab", "store"]),
    ("host", &["vocab", "store"]),
    ("measure", &["vocab", "worker", "probe", "prereg", "plan", "store", "host"]),
    ("analyse", &["vocab", "stats", "prereg", "store"]),
    ("decide", &["vocab", "stats", "prereg", "store", "analyse"]),
    ("render", &["vocab", "stats", "prereg", "store", "analyse", "decide"]),
    ("audit", &["vocab", "stats", "prereg", "render"]),
    ("exchange", &["vocab", "prereg", "store"]),
    ("verify", &["vocab", "prereg", "store", "host", "decide", "render", "exchange"]),
    (
        "cli",
        &[
            "vocab", "worker", "stats", "probe", "prereg", "plan", "store", "spool", "host", "measure",
            "analyse", "decide", "render", "audit", "exchange", "verify",
        ],
    ),
];

/// Lines of the longest Rust file.
const LONGEST: usize = 500;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every file below `folder` with one of the extensions: path relative to the workspace, and text.
fn files(folder: &str, extensions: &[&str]) -> Vec<(String, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let suits = path.extension().is_some_and(|it| extensions.iter().any(|that| it == *that));
            if path.is_dir() {
                // What a fuzzer was built from lies within its own folder.
                folders.extend((!path.ends_with("target")).then_some(path));
            } else if suits {
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn rust() -> Vec<(String, String)> {
    ["engine", "harness", "experiments"].into_iter().flat_map(|it| files(it, &["rs"])).collect()
}

/// The code of a line, without its comment and without what stands in quotes.
fn code(line: &str) -> String {
    let line = if line.trim_start().starts_with("//") { "" } else { line };
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"").split(" //").next().unwrap().to_owned()
}

#[track_caller]
fn none(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

/// The module of `harness` that a file belongs to; `None` for the crate's roots.
fn module(path: &str) -> Option<&str> {
    let inner = path.strip_prefix("harness/src/")?;
    let first = inner.split('/').next()?.trim_end_matches(".rs");
    (first != "lib" && first != "main").then_some(first)
}

#[test]
fn imports_point_back() {
    let mut problems = Vec::new();
    for (path, text) in files("harness/src", &["rs"]) {
        let Some(own) = module(&path) else { continue };
        let allowed = MAY_IMPORT.iter().find(|(name, _)| *name == own).map_or(&[][..], |(_, it)| *it);
        for (i, line) in text.lines().enumerate() {
            let line = code(line);
            for after in line.split("crate::").skip(1) {
                // `use crate::{a, b::c}` names several.
                let names = after.strip_prefix('{').map_or(vec![after], |it| it.split(',').collect());
                for name in names {
                    let name: String =
                        name.trim().chars().take_while(|it| it.is_ascii_lowercase() || *it == '_').collect();
                    let known = MAY_IMPORT.iter().any(|(it, _)| *it == name);
                    if known && name != own && !allowed.contains(&name.as_str()) {
                        problems.push(format!("{path}:{}: `{own}` must not import `{name}`", i + 1));
                    }
                }
            }
        }
    }
    none(problems);
}

#[test]
fn allowed_imports_stand_before_their_importer() {
    // `host` lies off the road of a sample; `stats` imports nothing and is imported by most.
    for (i, (module, allowed)) in MAY_IMPORT.iter().enumerate() {
        for it in *allowed {
            let at = MAY_IMPORT.iter().position(|(name, _)| name == it);
            assert!(at.is_some_and(|at| at < i), "`{module}` comes before `{it}`");
        }
    }
}

#[test]
fn every_module_has_a_rule() {
    let modules: BTreeSet<String> = files("harness/src", &["rs"])
        .iter()
        .filter_map(|(path, _)| module(path).map(str::to_owned))
        .collect();
    let missing = modules.iter().filter(|it| MAY_IMPORT.iter().all(|(name, _)| name != it));
    none(missing.map(|it| format!("`{it}` has no line in MAY_IMPORT")).collect());
}

#[test]
fn files_are_short() {
    let long = rust().into_iter().map(|(path, text)| (path, text.lines().count()));
    none(
        long.filter(|(_, n)| *n > LONGEST)
            .map(|(path, n)| format!("{path} has {n} lines, at most {LONGEST}"))
            .collect(),
    );
}

#[test]
fn only_the_command_line_speaks_and_ends_the_process() {
    let words = ["println!", "print!", "process::exit"];
    let free = |path: &str| {
        // The worker's side speaks the protocol on its standard output.
        path.starts_with("harness/src/cli/")
            || path.starts_with("harness/src/worker/")
            || path == "harness/src/main.rs"
    };
    let mut problems = Vec::new();
    for (path, text) in rust().into_iter().filter(|(path, _)| path.contains("/src/") && !free(path)) {
        // Tests within a file stand at its end.
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
        for (i, line) in text.lines().enumerate() {
            if words.iter().any(|it| code(line).contains(it)) {
                problems.push(format!("{path}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    none(problems);
}

#[test]
fn nothing_is_left_to_do_and_no_path_leads_home() {
    // Written in parts, so that this file passes.
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X:"),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/Us", "ers/"),
    ];
    let extensions = ["rs", "toml", "sql", "md", "json", "sh"];
    let folders = ["engine", "harness", "experiments", "schemas", "ledgers"];
    let mut problems = Vec::new();
    for (path, text) in folders.into_iter().flat_map(|it| files(it, &extensions)) {
        if path.starts_with("harness/tests/cases/") {
            continue;
        }
        for (i, line) in text.lines().enumerate() {
            // A place where packages are installed, on every machine that has it.
            let line = line.replace(concat!("/ho", "me/linuxbrew"), "");
            problems.extend(
                words.iter().filter(|it| line.contains(**it)).map(|it| format!("{path}:{}: {it}", i + 1)),
            );
        }
    }
    none(problems);
}

/// Files of a folder that its `mod.rs` neither declares nor lists.
fn forgotten(folder: &str, listed: impl Fn(&str, &str, &str) -> bool) -> Vec<String> {
    let all = files(folder, &["rs"]);
    let (_, registry) = all.iter().find(|(path, _)| *path == format!("{folder}/mod.rs")).unwrap();
    all.iter()
        .filter_map(|(path, text)| {
            Some((path.strip_prefix(&format!("{folder}/"))?.strip_suffix(".rs")?, text))
        })
        .filter(|(name, _)| *name != "mod" && !name.contains('/'))
        .filter(|(name, text)| !listed(name, text, registry))
        .map(|(name, _)| format!("{folder}/{name}.rs is not in its registry"))
        .collect()
}

#[test]
fn no_registry_entry_is_forgotten() {
    // Whatever draws samples is in the list that every ledger works through.
    none(forgotten("harness/src/render/plot", |name, text, registry| {
        let draws = text.contains("pub fn draw(samples: &Samples)");
        let list = registry.split("static OF_SAMPLES").nth(1).unwrap_or_default();
        !draws || list.contains(&format!("{name}::"))
    }));
    // Every statistic can be used from outside.
    none(forgotten("harness/src/stats", |name, text, registry| {
        let public = text.lines().any(|it| it.starts_with("pub fn ") || it.starts_with("pub struct "));
        !public
            || registry.contains(&format!("pub use {name}::"))
            || registry.contains(&format!("pub mod {name};"))
    }));
}

#[test]
fn no_test_forgets_to_assert() {
    let mut problems = Vec::new();
    for (path, text) in rust() {
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.starts_with("matches!(") && line.ends_with(");") {
                problems.push(format!("{path}:{}: {line} has no effect", i + 1));
            }
        }
    }
    none(problems);
}
