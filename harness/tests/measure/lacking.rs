//! What a worker says that the host lacks, before anything is measured.

use super::{prereg, program};
use harness::measure::{Interrupt, check};
use harness::vocab::{Process, Scalar};
use std::collections::BTreeSet;

#[test]
fn what_a_worker_lacks_is_known_before_anything_is_measured() {
    let scratch = tempfile::tempdir().unwrap();
    let (root, never) = (scratch.path(), Interrupt::new().unwrap());
    let prereg = prereg(Process::PerArm);
    let check = |args: &[&str]| check(&prereg, &[program(&[]), program(args)], root, root, &never);
    // Who does not say that it checks is not asked.
    for fit in [&[][..], &["fit"], &["mute"]] {
        check(fit).unwrap();
    }
    let refused = check(&["lack"]).unwrap_err().to_string();
    assert_eq!(refused, "worker of arm `b`, asked for check, refused: no list of words, install one");
    assert_eq!(std::fs::read_dir(root).unwrap().count(), 0);
}

#[test]
fn one_process_of_each_arm_is_asked_for_every_cell() {
    let scratch = tempfile::tempdir().unwrap();
    let (root, never) = (scratch.path(), Interrupt::new().unwrap());
    let mut prereg = prereg(Process::PerArm);
    prereg.params.push(("terms".to_owned(), vec![Scalar::Int(1), Scalar::Int(2), Scalar::Int(3)]));
    let asked = root.join("asked");
    let fit = program(&["fit", "0", asked.to_str().unwrap()]);
    check(&prereg, &[fit.clone(), fit], root, root, &never).unwrap();
    let asked = std::fs::read_to_string(asked).unwrap();
    let processes: BTreeSet<&str> = asked.lines().filter_map(|it| it.split(' ').next()).collect();
    assert_eq!((processes.len(), asked.lines().count()), (2, 6), "{asked}");
    for mode in ["a", "b"] {
        for terms in 1..=3 {
            let wanted = |it: &&str| {
                it.contains(&format!("\"mode\":\"{mode}\"")) && it.contains(&format!("\"terms\":{terms}"))
            };
            assert_eq!(asked.lines().filter(wanted).count(), 1, "{mode}, {terms}: {asked}");
        }
    }
    // A refusal names the cell that was asked for, not the one that the process was started for.
    let lacking = program(&["lack-two"]);
    let refused = check(&prereg, &[lacking.clone(), lacking], root, root, &never).unwrap_err().to_string();
    assert_eq!(refused, "worker of arm `a` at terms=2, asked for check, refused: no second list of words");
}
