//! The chain of an experiment: a link for everything that is written, and nothing that can be taken out of it.

use crate::support::*;
use harness::store::{Event, Invalidation, Link, Store, Subject, chain};
use harness::vocab::{RunState, Seal};
use uuid::Uuid;

fn aside(seq: u32, invalid: bool) -> Invalidation {
    Invalidation { seq, at: at("2026-01-10T11:00:00Z"), invalid, reason: "the host was throttled".to_owned() }
}

/// Appends everything that can happen to a run.
fn live(store: &mut Store, run: Uuid) {
    store.append_block(run, &[set("lazy", 0, &[1.0, -0.0]), set("eager", 0, &[5e-324, 1e308])], &[]).unwrap();
    store.append_block(run, &[set("lazy", 2, &[3.0])], &[cell_arm("lazy"), cell_arm("eager")]).unwrap();
    store.append_event(run, &event(2, RunState::Done)).unwrap();
    store
        .append_verdict(&verdict(run, 1), &[finding(Subject::Guard, "b"), finding(Subject::Guard, "a")])
        .unwrap();
    store.invalidate(run, &aside(1, true)).unwrap();
    store.invalidate(run, &aside(2, false)).unwrap();
    store.register(&registration("exp-1-lazy", 2)).unwrap();
}

fn kinds(links: &[Link]) -> Vec<Seal> {
    links.iter().map(|it| it.kind).collect()
}

const LIFE: [Seal; 8] = [
    Seal::Registered,
    Seal::Begun,
    Seal::Event,
    Seal::Event,
    Seal::Verdict,
    Seal::Invalidated,
    Seal::Restored,
    Seal::Amended,
];

#[test]
fn every_record_gets_one_link() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    live(&mut store, run.id);
    let links = store.chain("exp-1-lazy").unwrap();
    assert_eq!(kinds(&links), LIFE);
    assert_eq!(chain::broken("exp-1-lazy", &links), None);
    assert!(links.iter().all(|it| !it.found));
    assert_eq!(store.chain_gaps("exp-1-lazy").unwrap(), Vec::<String>::new());
    // The same again is no change.
    store.register(&registration("exp-1-lazy", 2)).unwrap();
    store.invalidate(run.id, &aside(2, false)).unwrap();
    store
        .append_verdict(&verdict(run.id, 1), &[finding(Subject::Guard, "a"), finding(Subject::Guard, "b")])
        .unwrap();
    assert_eq!(store.chain("exp-1-lazy").unwrap(), links);
    let error = store.invalidate(run.id, &aside(2, true)).unwrap_err().to_string();
    assert!(error.contains("invalidation 2 of run"), "{error}");
    assert!(store.invalidate(run.id, &Invalidation { reason: String::new(), ..aside(3, true) }).is_err());
    assert!(store.invalidate(Uuid::nil(), &aside(1, true)).unwrap_err().to_string().contains("no run"));
    // SQL reckons the same hash.
    let sql = "select bool_and(hash = sha256(previous || convert_to(seq || '|' || kind || '|' || object || '|' || \
                 (extract(epoch from at) * 1000000)::bigint || '|' || found, 'UTF8') || body)) \
               from (select c.*, coalesce(lag(hash) over (order by seq), sha256('harness/chain/exp-1-lazy')) previous \
                     from harness.chain c) k";
    assert!(database.client().query_one(sql, &[]).unwrap().get::<_, bool>(0));
}

#[test]
fn a_body_is_the_same_however_the_samples_were_cut_and_ordered() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    live(&mut store, run.id);
    let data = store.run(run.id).unwrap().unwrap();
    let done = Event { seq: 2, ..event(2, RunState::Done) };
    let links = store.chain("exp-1-lazy").unwrap();
    let mut cut: Vec<_> =
        [set("eager", 0, &[5e-324, 1e308]), set("lazy", 0, &[1.0, -0.0]), set("lazy", 2, &[3.0])]
            .into_iter()
            .collect();
    // Its time goes on where the first chunk's ended, as it was stored.
    for sets in [data.sets.clone(), {
        cut.reverse();
        cut
    }] {
        let mut cells = data.cells.clone();
        cells.reverse();
        assert_eq!(chain::body::event(&done, &cells, &sets), links[3].body);
    }
    for change in [
        |sets: &mut Vec<harness::store::SampleSet>| sets[1].values[1] = 0.0,
        |sets: &mut Vec<harness::store::SampleSet>| sets[1].at_ns[0] += 1,
        |sets: &mut Vec<harness::store::SampleSet>| sets[1].unit = "s".to_owned(),
        |sets: &mut Vec<harness::store::SampleSet>| drop(sets.pop()),
    ] {
        let mut sets = data.sets.clone();
        change(&mut sets);
        assert_ne!(chain::body::event(&done, &data.cells, &sets), links[3].body);
    }
}

#[test]
fn eight_writers_make_one_chain() {
    let database = Database::new();
    let registration = registration("exp-1-lazy", 1);
    database.store().register(&registration).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut store = database.store();
                for _ in 0..10 {
                    let run = run_of(&registration);
                    store.begin_run(&run, &arms()).unwrap();
                }
            });
        }
    });
    let links = database.store().chain("exp-1-lazy").unwrap();
    assert_eq!(links.len(), 1 + 8 * 10 * 2);
    assert_eq!(chain::broken("exp-1-lazy", &links), None);
}

#[test]
fn a_link_cannot_be_changed() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    store.invalidate(run.id, &aside(1, true)).unwrap();
    for sql in
        ["update harness.chain set seq = 9", "delete from harness.invalidations", "truncate harness.chain"]
    {
        let error = database.client().batch_execute(sql).unwrap_err();
        assert_eq!(error.code().map(postgres::error::SqlState::code), Some("HL001"), "{sql}");
    }
}

#[test]
fn what_was_there_before_is_sealed_as_found() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    live(&mut store, run.id);
    let before = store.chain("exp-1-lazy").unwrap();
    store.close().unwrap();
    let back = "drop view harness.latest_runs, harness.invalidated_runs; drop table harness.chain, \
                harness.invalidations; delete from harness.schema_migrations where version = 3";
    database.client().batch_execute(back).unwrap();
    let mut store = migrated(&database.url);
    let links = store.chain("exp-1-lazy").unwrap();
    assert!(links.iter().all(|it| it.found));
    assert_eq!(chain::broken("exp-1-lazy", &links), None);
    // In the order in which it happened; the invalidations went with their table.
    let bodies = |links: &[Link]| {
        let mut all: Vec<_> = links
            .iter()
            .filter(|it| !matches!(it.kind, Seal::Invalidated | Seal::Restored))
            .map(|it| (it.kind, it.object.clone(), it.body))
            .collect();
        all.sort();
        all
    };
    assert_eq!(bodies(&links), bodies(&before));
    assert!(links.is_sorted_by_key(|it| it.at));
}

#[test]
fn a_chain_goes_on_in_another_store() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    live(&mut store, run.id);
    let links = store.chain("exp-1-lazy").unwrap();
    let data = store.run(run.id).unwrap().unwrap();
    let registrations = store.registrations("exp-1-lazy").unwrap();
    let judgements = [(verdict(run.id, 1), store.findings(run.id, 1).unwrap())];
    let other = Database::new();
    let mut copy = other.store();
    copy.import_registration(&registrations[0], &links[..1]).unwrap();
    for _ in 0..2 {
        copy.import_linked(&data, &registrations, &judgements, &links).unwrap();
        assert_eq!(copy.chain("exp-1-lazy").unwrap(), links);
        assert_eq!(copy.run(run.id).unwrap().unwrap(), data);
    }
    // Without a chain, and where the two have parted, everything is sealed as it is found.
    let third = Database::new();
    let mut parted = third.store();
    parted.import_registration(&registrations[0], &[]).unwrap();
    parted.import_linked(&data, &registrations, &judgements, &links).unwrap();
    let own = parted.chain("exp-1-lazy").unwrap();
    assert!(own.len() == links.len() && own.iter().all(|it| it.found));
    assert_eq!(chain::broken("exp-1-lazy", &own), None);
    // A chain that does not hold is not taken over.
    let mut forged = links.clone();
    forged.swap(2, 3);
    let error = Database::new().store().import_registration(&registrations[0], &forged).unwrap_err();
    assert!(error.to_string().contains("the chain of `exp-1-lazy`: link 4"), "{error}");
}

#[test]
fn a_run_set_aside_is_not_the_latest() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    store.append_event(run.id, &event(2, RunState::Done)).unwrap();
    let latest =
        |it: &Database| it.client().query("select run_id from harness.latest_runs", &[]).unwrap().len();
    assert_eq!((latest(&database), store.runs(None).unwrap()[0].invalidated.is_some()), (1, false));
    store.invalidate(run.id, &aside(1, true)).unwrap();
    assert_eq!((latest(&database), store.runs(None).unwrap()[0].invalidated.is_some()), (0, true));
    store.invalidate(run.id, &aside(2, false)).unwrap();
    assert_eq!((latest(&database), store.runs(None).unwrap()[0].invalidated.is_some()), (1, false));
}
