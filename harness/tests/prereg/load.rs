use super::EXAMPLE;
use harness::prereg::{LONGEST_FILE, LoadError, Prereg};
use std::error::Error as _;

#[test]
fn a_file_is_loaded_and_its_faults_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("exp-1-lazy.toml");
    let shown = path.display();

    let error = Prereg::load(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("failed to read `{shown}`"));
    assert!(error.source().is_some());
    assert!(matches!(Prereg::load(dir.path()), Err(LoadError::Io { .. })));

    std::fs::write(&path, EXAMPLE).unwrap();
    assert_eq!(Prereg::load(&path).unwrap().id, "exp-1-lazy");

    std::fs::write(&path, b"id = \"\xff\"").unwrap();
    let error = Prereg::load(&path).unwrap_err().to_string();
    assert_eq!(error, format!("failed to read `{shown}`: it is not UTF-8 at byte 6, expected TOML text"));

    let longest = usize::try_from(LONGEST_FILE).unwrap();
    let padded = format!("{EXAMPLE}{}", "#".repeat(longest - EXAMPLE.len()));
    std::fs::write(&path, &padded).unwrap();
    Prereg::load(&path).unwrap();
    std::fs::write(&path, padded + "#").unwrap();
    assert!(matches!(Prereg::load(&path), Err(LoadError::TooLong { .. })));

    std::fs::write(&path, EXAMPLE.replace("samples = 30", "samples = 1")).unwrap();
    let error = Prereg::load(&path).unwrap_err();
    assert!(
        error.to_string().starts_with(&format!("{shown}:30:11: `samples` in [design] is `1`")),
        "{error}"
    );
    let LoadError::Invalid(problems) = error else {
        panic!("{error}");
    };
    assert_eq!(problems.file(), path.display().to_string());
}
