//! What a worker says that the host lacks, before anything is measured.

use super::{prereg, program};
use harness::measure::{Interrupt, check};
use harness::vocab::Process;

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
