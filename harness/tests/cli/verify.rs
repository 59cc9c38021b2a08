//! Everything that can be done to a record, and what names it.

use crate::support::{Experiment, Project, Said, Transcript, rows, said};

/// A project with one experiment that was run and is committed.
fn measured() -> Project {
    let project = Project::with(&Experiment::FASTER);
    project.expect(0, &["run", "faster", "-q"]);
    project.commit("Measure");
    project
}

/// Both ways of looking, which must agree.
#[track_caller]
fn fails(project: &Project, expected: &[&str]) {
    for args in [&["verify"][..], &["verify", "--evidence"]] {
        project.expect(5, args).complains(&["the first thing that does not hold"]).complains(expected);
    }
}

/// The owner of the database: who can switch the triggers off, change something, and switch them on.
struct Owner {
    url: String,
    _client: postgres::Client,
}

const TABLES: &[&str] = &[
    "experiments",
    "preregistrations",
    "arms",
    "environments",
    "runs",
    "run_arms",
    "cell_arms",
    "run_events",
    "sample_sets",
    "verdicts",
    "findings",
    "chain",
    "invalidations",
];

impl Owner {
    fn of(project: &Project) -> Self {
        let client = project.hold();
        let url = project.expect(0, &["db", "url", "-q"]).out.trim().to_owned();
        let copies = TABLES.iter().map(|it| format!("create table before.{it} as table harness.{it};"));
        rows(&url, &format!("create schema before; {}", copies.collect::<String>()));
        Self { url, _client: client }
    }

    fn does(&self, sql: &str) {
        rows(&self.url, &format!("set session_replication_role = replica; {sql}"));
    }

    /// Puts everything back as it was.
    fn regrets(&self) {
        let back =
            TABLES.iter().map(|it| format!("delete from {it}; insert into {it} select * from before.{it};"));
        self.does(&back.collect::<String>());
    }
}

#[test]
fn what_was_measured_holds_with_and_without_the_database() {
    let project = Project::with(&Experiment::FASTER);
    let mut transcript = Transcript::of(&project);
    transcript.run(&["verify", "faster"]).run(&["verify", "--ledger", "demo"]);
    project.expect(0, &["register", "faster"]);
    transcript.run(&["verify"]);
    project.expect(0, &["run", "faster", "-q"]);
    project.commit("Measure");
    transcript.run(&["verify", "faster"]);
    project.edit("ledgers/demo.md", "# Ledger: demo", "# Ledger: demo, mended");
    transcript.say("the ledger was edited").run(&["verify", "--ledger", "demo"]);
    transcript.check("verify");
    let told = project.expect(5, &["verify", "--evidence", "--format", "json"]).json();
    assert_eq!(told["first"]["of"], "ledger demo");
    assert_eq!((&told["counts"]["samples"], &told["counts"]["fails"]), (&22.into(), &1.into()));
    // Nothing of a database is needed, nor made.
    let copy = Project::new();
    for folder in ["ledgers", "plots", "experiments"] {
        project.copy(folder, &copy);
    }
    let told = copy.expect(5, &["verify", "--evidence"]);
    assert!(told.err.contains("ledgers/demo.md"), "{told}");
    assert!(!copy.path(".harness").exists());
}

#[test]
fn edited_files_are_named() {
    let project = measured();
    project.expect(0, &["verify"]);
    project.expect(0, &["verify", "--evidence"]);
    let with = |name: &str, old: &str, new: &str, expected: &[&str]| {
        let text = project.read(name);
        project.edit(name, old, new);
        fails(&project, expected);
        project.write(name, &text);
    };
    with("ledgers/demo.md", "ACCEPT", "REJECT", &["ledgers/demo.md: line ", "is `", "rendered is `"]);
    with("plots/faster/gain.svg", "<svg", "<svg ", &["plots/faster/gain.svg: line 1 is"]);
    with(
        "experiments/faster.toml",
        "margin = 0.5",
        "margin = 0.3",
        &["experiments/faster.toml: it says something else than version 1"],
    );
    let chain = "ledgers/evidence/faster/chain.ndjson";
    let text = project.read(chain);
    let mut turned: Vec<&str> = text.lines().collect();
    turned.swap(1, 2);
    project.write(chain, &format!("{}\n", turned.join("\n")));
    project
        .expect(5, &["verify", "--evidence"])
        .complains(&["chain: link 3 (event", "stands where link 2 should"]);
    project.expect(5, &["verify"]).complains(&["chain.ndjson` is damaged", "link 3 (event"]);
    // Without its last link it holds in itself; the history tells.
    let cut: Vec<&str> = text.lines().collect();
    project.write(chain, &format!("{}\n", cut[..cut.len() - 1].join("\n")));
    project.expect(5, &["verify", "--evidence"]).complains(&["has no link: it was put in beside the chain"]);
    project.write(chain, &text);
    project.expect(0, &["verify", "--evidence"]);
    // A plot that is gone.
    project.remove("plots/faster/gain.svg");
    fails(&project, &["plots/faster/gain.svg: it cannot be read"]);
}

#[test]
fn what_the_owner_of_the_database_changes_is_named() {
    let flipped =
        "update sample_sets set \"values\"[1] = \"values\"[1] + 1e-13 where not warmup and arm = 'a'";
    let digest = "; update sample_sets set sha256 = (select sha256(string_agg(float8send(v), ''::bytea order by i)) \
                  from unnest(\"values\") with ordinality as u(v, i))";
    let cases = [
        (flipped.to_owned(), "the samples of metric time, cell ``, arm a from block 0 do not have their digest"),
        (format!("{flipped}{digest}"), "is not what link 4 (event"),
        ("update sample_sets set at_packed = set_bit(at_packed, 17, 1 - get_bit(at_packed, 17)) where arm = 'b'".to_owned(),
         "is not what link 4 (event"),
        ("update sample_sets set at_packed = at_packed || '\\x00' where arm = 'b'".to_owned(), "have times that no clock shows"),
        ("update verdicts set verdict = 'reject'".to_owned(), "is not what link 5 (verdict"),
        ("update environments set doc = '{\"os\":\"none\"}'".to_owned(), "the environment of run"),
        ("update preregistrations set reason = 'none'".to_owned(), "registered 1 is not what link 1 (registered 1) sealed"),
        ("update preregistrations set canonical = canonical || ' '".to_owned(), "does not have its digest"),
        ("update chain set seq = seq + 100; update chain set seq = case seq when 102 then 3 when 103 then 2 else seq - 100 end".to_owned(), "chain: link 2 (event"),
        ("delete from verdicts; delete from findings".to_owned(), "link 5 (verdict"),
        ("delete from chain where seq = 5".to_owned(), "has no link: it was put in beside the chain"),
    ];
    let project = measured();
    let owner = Owner::of(&project);
    for (sql, expected) in cases {
        owner.does(&sql);
        let told = project.expect(5, &["verify"]);
        assert!(format!("{}{}", told.out, told.err).contains(expected), "{sql}\n{told}");
        owner.regrets();
    }
    project.expect(0, &["verify"]);
    // A run that was taken out is told, and loaded again.
    let taken_out = "delete from sample_sets; delete from findings; delete from verdicts; delete from run_events; \
                     delete from run_arms; delete from cell_arms; delete from runs";
    let id = project.run_id();
    owner.does(taken_out);
    project.expect(5, &["verify"]).complains(&["store: link 2 (begun", "seals what is not there any more"]);
    project.expect(0, &["verify"]);
    owner.does(taken_out);
    // With its evidence gone too, the chain still names it.
    project.remove(&format!("ledgers/evidence/faster/run-{id}.ndjson.gz"));
    fails(&project, &["link 2 (begun", "seals what is not there any more"]);
}

#[test]
fn a_single_damaged_byte_of_evidence_never_passes() {
    let project = measured();
    project.expect(0, &["verify", "--evidence"]);
    let folder = project.path("ledgers/evidence/faster");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(files.len(), 3);
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        // A step that is no divisor of anything reaches every kind of place.
        for at in (0..bytes.len()).step_by((bytes.len() / 8).max(1) | 1) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&file, &damaged).unwrap();
            let told = project.harness(&["verify", "--evidence"]);
            let header = file.extension().is_some_and(|it| it == "gz") && (4..10).contains(&at);
            assert!(
                told.code == Some(5) || header && told.code == Some(0),
                "{} byte {at}\n{told}",
                file.display()
            );
        }
        std::fs::write(&file, &bytes).unwrap();
    }
    project.expect(0, &["verify", "--evidence"]);
}

#[test]
fn an_invalidated_run_stays_and_the_next_one_decides() {
    let project = measured();
    let _server = project.hold();
    let first = project.run_id();
    project.expect(0, &["run", "faster", "-q"]);
    let second = project.run_id();
    let mut transcript = Transcript::of(&project);
    let invalidate =
        |reason: &str| ["invalidate".to_owned(), first.clone(), "--reason".to_owned(), reason.to_owned()];
    let call = |args: &[String], more: &[&str]| -> Said {
        let args: Vec<&str> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
        said(&mut project.command(&args))
    };
    let told = call(&invalidate("the host was | throttled"), &[]);
    transcript.note(&["invalidate", "<first>", "--reason", "the host was | throttled"], &told);
    assert!(told.out.contains(&format!("run {second} decides")), "{told}");
    transcript.run(&["list", "-q"]);
    let ledger = project.read("ledgers/demo.md");
    assert!(ledger.contains("**1 run was invalidated by hand**"), "{ledger}");
    let other = ["invalidate".to_owned(), second.clone(), "--reason".to_owned(), "as well".to_owned()];
    call(&other, &["-q"]);
    let all = project.read("ledgers/demo.md");
    assert!(all.contains("**Invalidated.**") && all.contains("**invalidated**"), "{all}");
    call(&other, &["--undo", "-q"]);
    assert!(
        ledger.contains(&format!("~~`{first}`~~")) && ledger.contains("the host was \\| throttled"),
        "{ledger}"
    );
    assert!(ledger.contains("not yet; 1 invalidated"), "{ledger}");
    let shown = project.expect(0, &["show", &first, "-q"]);
    assert!(shown.out.contains("faster: ACCEPT (invalidated)\n  invalidated 20"), "{shown}");
    project.expect(0, &["verify"]);
    project.expect(0, &["verify", "--evidence"]);
    // Twice, for no reason, and a run that is not there.
    transcript.note(&["invalidate", "<first>", "--reason", "again"], &call(&invalidate("again"), &[]));
    transcript.note(&["invalidate", "<first>", "--reason", " "], &call(&invalidate(" "), &[]));
    transcript.run(&["invalidate", "0198aaaa-0000-7000-8000-000000000000", "--reason", "no such run"]);
    // The invalidation reaches whoever has loaded the run before it.
    let copy = Project::new();
    for folder in ["ledgers", "plots", "experiments"] {
        project.copy(folder, &copy);
    }
    copy.expect(0, &["verify"]);
    let told = call(&invalidate("it was not"), &["--undo"]);
    transcript.note(&["invalidate", "<first>", "--reason", "it was not", "--undo"], &told);
    assert!(told.out.contains("it decides"), "{told}");
    transcript.check("invalidate");
    let ledger = project.read("ledgers/demo.md");
    assert!(ledger.contains("### Invalidations") && ledger.contains("restored"), "{ledger}");
    project.copy("ledgers", &copy);
    project.copy("plots", &copy);
    copy.expect(0, &["list"]);
    assert_eq!(copy.sql("select count(*)::text from harness.invalidations"), ["4"]);
    copy.expect(0, &["verify"]);
}

#[test]
fn a_run_travels_to_another_store_and_back() {
    let project = measured();
    let id = project.run_id();
    let to = project.outside("exported");
    let to = to.to_str().unwrap();
    let told = project.expect(0, &["export", &id, "--to", to]);
    assert!(told.out.contains(&format!("run-{id}.ndjson.gz")), "{told}");
    let other = Project::new();
    project.copy("experiments", &other);
    let import = |place: &str| other.expect(0, &["import", place, "--format", "json", "-q"]).json();
    let file = format!("{to}/faster/run-{id}.ndjson.gz");
    assert_eq!(import(&file)[1]["new"], 1);
    for place in [to, &file, &format!("{to}/faster")] {
        assert_eq!((&import(place)[1]["given"], &import(place)[1]["new"]), (&1.into(), &0.into()), "{place}");
    }
    other.expect(0, &["render", "-q"]);
    other.expect(0, &["verify"]);
    let evidence = format!("ledgers/evidence/faster/run-{id}.ndjson.gz");
    assert_eq!(
        std::fs::read(other.path(&evidence)).unwrap(),
        std::fs::read(project.path(&evidence)).unwrap()
    );
    assert_eq!(
        other.read("ledgers/evidence/faster/chain.ndjson"),
        project.read("ledgers/evidence/faster/chain.ndjson")
    );
    assert_eq!(other.read("ledgers/demo.md"), project.read("ledgers/demo.md"));
    // A copy that is damaged is told, though the store has the run.
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    other.expect(5, &["import", &file]).complains(&[&format!("run-{id}.ndjson.gz")]);
    std::fs::write(&file, &whole).unwrap();
    // The same run with another seed is a contradiction, also while the store has a verdict.
    let owner = Owner::of(&other);
    owner.does("update runs set seed = seed + 1");
    other.expect(5, &["import", to]).complains(&["seed of run"]);
    // And without one.
    owner.does("delete from verdicts; delete from findings");
    other.expect(5, &["import", to]).complains(&["seed of run"]);
    let nowhere = other.outside("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    project.expect(2, &["import", nowhere]).complains(&["there is no such file or folder"]);
    let empty = other.outside("home");
    project.expect(2, &["import", empty.to_str().unwrap()]).complains(&["there is no evidence in"]);
    project.expect(2, &["export", "0198aaaa-0000-7000-8000-000000000000"]).complains(&["no run 0198aaaa-"]);
}

#[test]
fn the_commit_that_registers_is_found() {
    let project = Project::with(&Experiment::FASTER);
    let told = project.expect(0, &["register", "faster", "-q"]);
    let trailer = told.out.lines().last().unwrap().to_owned();
    assert!(trailer.starts_with("Preregistered: faster v1 sha256:"), "{trailer}");
    let told = project.expect(0, &["verify", "--evidence"]);
    assert!(told.out.contains("anchor of version 1: not anchored"), "{told}");
    project.commit(&format!("Plan it\n\n{trailer}"));
    // The text may be changed and the commit still says what it was.
    project.edit("experiments/faster.toml", "margin = 0.5", "margin = 0.4");
    project.expect(0, &["register", "faster", "--amend", "--reason", "less will do", "-q"]);
    let told = project.expect(0, &["verify", "--evidence"]);
    let out = &told.out;
    assert!(
        out.contains("anchor of version 1: commit ") && out.contains("anchor of version 2: not anchored"),
        "{told}"
    );
    project.commit("Amend it");
    let told = project.expect(0, &["verify", "--evidence"]);
    assert!(told.out.contains("has its text") && told.out.contains("2 links committed"), "{told}");
}
