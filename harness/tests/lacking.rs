//! What a worker says that the host lacks, before anything is measured.

use harness::measure::{Interrupt, Program, check};
use harness::prereg::parse;
use std::path::Path;

const DEMO: &str = r#"
id = "demo"
title = "Demo"
ledger = "demo"
[worker]
command = ["worker.sh"]
system = "demo"
timeout = "2s"
[arms.a]
role = "control"
params.mode = "a"
[arms.b]
role = "treatment"
params.mode = "b"
[design]
samples = 3
[metrics.time]
unit = "ms"
better = "lower"
[[guards]]
metric = "time"
margin = 0.05
"#;

fn program(args: &[&str]) -> Program {
    Program {
        path: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workers/worker.sh"),
        args: args.iter().map(|it| (*it).to_owned()).collect(),
        shown: vec!["worker.sh".to_owned()],
        binary: None,
        folder: None,
        built: None,
        others: Vec::new(),
    }
}

#[test]
fn what_a_worker_lacks_is_known_before_anything_is_measured() {
    let scratch = tempfile::tempdir().unwrap();
    let (root, never) = (scratch.path(), Interrupt::new().unwrap());
    let prereg = parse(DEMO, "demo.toml").unwrap();
    let check = |args: &[&str]| check(&prereg, &[program(&[]), program(args)], root, root, &never);
    // Who does not say that it checks is not asked.
    for fit in [&[][..], &["fit"], &["mute"]] {
        check(fit).unwrap();
    }
    let refused = check(&["lack"]).unwrap_err().to_string();
    assert_eq!(refused, "worker of arm `b`, asked for check, refused: no list of words, install one");
    assert_eq!(std::fs::read_dir(root).unwrap().count(), 0);
}
