//! Instants are instants, whatever the clocks on the walls of server and client say.

use crate::support::*;
use harness::store::Run;
use postgres::NoTls;
use uuid::Uuid;

/// Around both changes of the clocks in Berlin: r1 and r2 read the same there, r2 and r3 are the same.
const RUNS: [(&str, &str, &str); 5] = [
    ("r1", "2026-10-25T00:30:00Z", "2026-10-25 00:30:00"),
    ("r2", "2026-10-25T01:30:00Z", "2026-10-25 01:30:00"),
    ("r3", "2026-10-25T03:30:00+02:00", "2026-10-25 01:30:00"),
    ("r4", "2026-03-29T01:15:00Z", "2026-03-29 01:15:00"),
    ("r5", "2026-03-28T18:30:00-07:00", "2026-03-29 01:30:00"),
];

fn check(server_zone: &str, client_zone: &str) {
    let database = Database::new();
    let name =
        database.url.split_once('?').unwrap_or((&database.url, "")).0.rsplit_once('/').unwrap().1.to_owned();
    database
        .client()
        .batch_execute(&format!("alter database {name} set timezone = '{server_zone}'"))
        .unwrap();
    let mut store = database.store();
    let registration = registration("zones", 1);
    store.register(&registration).unwrap();
    for (host, started_at, _) in RUNS {
        let run = Run {
            id: Uuid::now_v7(),
            host: host.to_owned(),
            started_at: at(started_at),
            ..run_of(&registration)
        };
        store.begin_run(&run, &arms()).unwrap();
    }
    let lines = store.runs(Some("zones")).unwrap();
    let order: Vec<&str> = lines.iter().map(|it| it.run.host.as_str()).collect();
    assert_eq!(order, ["r4", "r5", "r1", "r2", "r3"]);
    for line in &lines {
        let (_, started_at, _) = RUNS.iter().find(|(host, ..)| *host == line.run.host).unwrap();
        assert_eq!(line.run.started_at, at(started_at));
        assert_eq!(line.state_at, at(started_at));
    }

    let mut config: postgres::Config = database.url.parse().unwrap();
    config.options(&format!("-ctimezone={client_zone}"));
    let rows = config
        .connect(NoTls)
        .unwrap()
        .query("select host, (started_at at time zone 'UTC')::text from harness.runs order by host", &[])
        .unwrap();
    for (row, (host, _, utc)) in rows.iter().zip(RUNS) {
        assert_eq!((row.get::<_, &str>(0), row.get::<_, &str>(1)), (host, utc));
    }
}

#[test]
fn instants_do_not_depend_on_time_zones() {
    check("Europe/Berlin", "Asia/Kolkata");
    check("America/Denver", "Europe/Berlin");
}

#[test]
fn instants_are_kept_to_the_microsecond() {
    let database = Database::new();
    let mut store = database.store();
    let mut registration = registration("exp-1-lazy", 1);
    registration.registered_at = at("2026-01-10T08:00:00.123456789Z");
    store.register(&registration).unwrap();
    let stored = store.registrations("exp-1-lazy").unwrap()[0].registered_at;
    assert_eq!(stored, at("2026-01-10T08:00:00.123456Z"));
    let mut run = run_of(&registration);
    run.started_at = at("1969-12-31T23:59:59.999999999Z");
    // The same run again is the same, though its instant was cut.
    store.begin_run(&run, &arms()).unwrap();
    store.begin_run(&run, &arms()).unwrap();
    assert_eq!(store.runs(None).unwrap()[0].run.started_at, at("1969-12-31T23:59:59.999999Z"));
}
