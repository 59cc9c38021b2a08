//! Runs that were measured elsewhere.

use crate::support::*;
use harness::store::{
    Event, Registration, RunData, Store, StoreError, StoredFinding, StoredVerdict, Subject,
};
use harness::vocab::RunState;

type Judgements = Vec<(StoredVerdict, Vec<StoredFinding>)>;

struct Exported {
    data: RunData,
    registrations: Vec<Registration>,
    judgements: Judgements,
}

/// A run that was measured block by block in another store.
fn exported() -> Exported {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    for block in 0..4 {
        let value = f64::from(block);
        store
            .append_block(run.id, &[set("eager", block, &[value]), set("lazy", block, &[-value])], &[])
            .unwrap();
    }
    store.append_block(run.id, &[], &[cell_arm("eager"), cell_arm("lazy")]).unwrap();
    store.append_event(run.id, &event(2, RunState::Done)).unwrap();
    store.append_verdict(&verdict(run.id, 1), &[finding(Subject::Guard, "memory")]).unwrap();
    Exported {
        data: store.run(run.id).unwrap().unwrap(),
        registrations: store.registrations("exp-1-lazy").unwrap(),
        judgements: vec![(verdict(run.id, 1), store.findings(run.id, 1).unwrap())],
    }
}

impl Exported {
    fn import(&self, store: &mut Store) -> Result<(), StoreError> {
        store.import(&self.data, &self.registrations, &self.judgements)
    }
}

#[track_caller]
fn assert_holds(store: &mut Store, it: &Exported) {
    assert_eq!(store.run(it.data.run.id).unwrap().as_ref(), Some(&it.data));
    assert_eq!(store.registrations("exp-1-lazy").unwrap(), it.registrations);
    assert_eq!(store.verdicts(it.data.run.id).unwrap()[0], it.judgements[0].0);
    assert_eq!(store.findings(it.data.run.id, 1).unwrap(), it.judgements[0].1);
}

#[test]
fn an_import_is_the_same_run_and_can_be_repeated() {
    let it = exported();
    let database = Database::new();
    let mut store = database.store();
    for _ in 0..2 {
        it.import(&mut store).unwrap();
        assert_holds(&mut store, &it);
    }
}

#[test]
fn an_import_adds_what_is_missing() {
    let it = exported();
    let database = Database::new();
    let mut store = database.store();
    let mut early = it.data.clone();
    early.events.truncate(1);
    for set in &mut early.sets {
        set.values.truncate(2);
        set.at_ns.truncate(2);
    }
    store.import(&early, &it.registrations, &[]).unwrap();
    it.import(&mut store).unwrap();
    assert_holds(&mut store, &it);
    // An older export of the same run says nothing new and nothing wrong.
    store.import(&early, &it.registrations, &[]).unwrap();
    assert_holds(&mut store, &it);
}

#[test]
fn a_contradiction_is_named_and_nothing_is_stored() {
    let it = exported();
    let database = Database::new();
    let mut store = database.store();
    it.import(&mut store).unwrap();
    let check = |store: &mut Store, change: &dyn Fn(&mut Exported), expected: &str| {
        let mut other = Exported {
            data: it.data.clone(),
            registrations: it.registrations.clone(),
            judgements: it.judgements.clone(),
        };
        // New content beside the contradiction: it must not get in.
        other.data.events.push(Event { seq: 3, ..event(3, RunState::Failed) });
        change(&mut other);
        let error = other.import(store).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_holds(store, &it);
    };
    check(
        &mut store,
        &|it| it.data.sets[0].values[2] = 2.25,
        "arm eager (terms=1000), block 2: stored 2.0, given 2.25",
    );
    check(&mut store, &|it| it.data.sets[0].at_ns[0] = 7, "block 0: stored at 1000 ns, given at 7 ns");
    check(&mut store, &|it| it.data.run.seed = 3, "seed of run");
    check(&mut store, &|it| it.data.arms[0].command.clear(), "arm eager of run");
    check(&mut store, &|it| it.data.cells[0].result = "x".into(), "what arm eager said in cell `terms=1000`");
    check(&mut store, &|it| it.data.events[1].state = RunState::Aborted, "event 2 of run");
    check(&mut store, &|it| it.judgements[0].0.doc = serde_json::json!({}), "document of verdict 1");
    check(&mut store, &|it| it.judgements[0].1[0].gain = Some(0.5), "findings of verdict 1");
    check(&mut store, &|it| it.registrations[0].title = "Other".into(), "title of version 1");
    check(&mut store, &|it| it.data.events.clear(), "`events`");
}

#[test]
fn an_import_without_its_registration_is_refused() {
    let it = exported();
    let database = Database::new();
    let mut store = database.store();
    let error = store.import(&it.data, &[], &[]).unwrap_err();
    assert!(matches!(error, StoreError::NotRegistered { .. }), "{error}");
    assert_eq!(store.runs(None).unwrap(), []);
}
