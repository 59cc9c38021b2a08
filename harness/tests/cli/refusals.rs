//! What a server says no with, row by row, as the user of each command meets it: what was attempted, where, what was
//! found, and what to do; and no password.

use crate::databases::Server;
use crate::support::{Experiment, Project, Said, rows, said};

/// Who is let in: with a password, only encrypted, or as they are.
const ACCESS: &str = "host all carol all scram-sha-256
hostssl all tess all trust
host all outsider all reject
host all harness,nobody,group_only,crowd,stranger,reader all trust
";

struct Row<'a> {
    url: String,
    /// The commands that it stops.
    stops: &'a [&'a [&'a str]],
    /// What is said: what was attempted, where, and what was found.
    says: &'a [&'a str],
    hint: &'a str,
}

const LIST: &[&str] = &["list"];
const STATUS: &[&str] = &["db", "status"];
const RUN: &[&str] = &["run", "faster"];
const EVERY: &[&[&str]] = &[LIST, STATUS, RUN];

fn told(project: &Project, args: &[&str], url: &str) -> Said {
    said(project.command(args).env("HARNESS_DATABASE_URL", url))
}

#[test]
fn every_refusal_is_answered_in_words_to_act_on() {
    let project = Project::with(&Experiment::FASTER);
    let (_server, address) = Server::listening(&project.outside("server"), ACCESS);
    let of = |database: &str| format!("postgres://harness@{address}/{database}");
    for database in ["perf", "fresh", "later", "edited", "older", "frozen", "replica", "filled"] {
        rows(&of("postgres"), &format!("create database {database}"));
        if database != "fresh" {
            project.expect(0, &["db", "migrate", "--database-url", &of(database)]);
        }
    }
    let setup = [
        ("postgres", "create role carol login password 's3cret'"),
        ("postgres", "create role tess login"),
        ("postgres", "create role outsider login"),
        ("postgres", "create role group_only nologin"),
        ("postgres", "create role crowd login connection limit 0"),
        ("postgres", "create role stranger login"),
        ("postgres", "create role reader login"),
        ("perf", "grant usage on schema harness to reader"),
        ("perf", "grant select on all tables in schema harness to reader"),
        ("later", "insert into harness.schema_migrations (version, name, sha256) values (99, 'later', '')"),
        ("edited", "update harness.schema_migrations set sha256 = '' where version = 2"),
        ("older", "delete from harness.schema_migrations where version > 5"),
        ("postgres", "alter database frozen with allow_connections false"),
        ("postgres", "alter database replica set default_transaction_read_only = on"),
        (
            "filled",
            "create function fail() returns trigger language plpgsql as $$ begin raise exception \
                  'could not extend file: No space left on device' using errcode = '53100'; end $$",
        ),
        (
            "filled",
            "create trigger full_disk before insert on harness.preregistrations for each row execute function fail()",
        ),
    ];
    for (database, sql) in setup {
        rows(&of(database), sql);
    }
    let at = |user: &str, rest: &str| format!("postgres://{user}@{address}/{rest}");
    let shown = |user: &str, rest: &str| format!("postgresql://{user}@{address}/{rest}");
    let (perf, carol) = (shown("harness", "perf"), shown("carol", "perf"));
    let table = [
        Row {
            url: "postgres://bob:s3cret@127.0.0.1:1/perf".to_owned(),
            stops: EVERY,
            says: &["failed to connect at postgresql://bob@127.0.0.1:1/perf", "Connection refused"],
            hint: "is the server running there? check host and port in the database URL",
        },
        Row {
            url: "postgres://bob:s3cret@/perf?host=/nonexistent".to_owned(),
            stops: EVERY,
            says: &["failed to connect at ", "nonexistent", "No such file or directory"],
            hint: "is the server running there?",
        },
        Row {
            url: "postgres://bob:s3cret@no-such-host.invalid/perf".to_owned(),
            stops: EVERY,
            says: &["failed to connect at postgresql://bob@no-such-host.invalid/perf", "lookup"],
            hint: "the host's name is unknown: check it in the database URL",
        },
        Row {
            url: at("carol:s3cret-wrong", "perf"),
            stops: EVERY,
            says: &["failed to connect at ", &carol, "password authentication failed", "28P01"],
            hint: "does not know user `carol` with this password, which came from the database URL; check both",
        },
        Row {
            url: at("carol", "perf"),
            stops: EVERY,
            says: &["failed to connect at ", &carol, "password missing"],
            hint: "put it into ~/.pgpass (mode 0600), PGPASSWORD or HARNESS_DATABASE_URL",
        },
        Row {
            url: at("nobody:s3cret", "perf"),
            stops: EVERY,
            says: &["failed to connect at ", "role \"nobody\" does not exist", "28000"],
            hint: "check the user in the database URL",
        },
        Row {
            url: at("group_only:s3cret", "perf"),
            stops: EVERY,
            says: &["failed to connect at ", "is not permitted to log in", "28000"],
            hint: "check the user in the database URL",
        },
        Row {
            url: at("outsider:s3cret", "perf"),
            stops: EVERY,
            says: &["failed to connect at ", "pg_hba.conf rejects connection", "28000"],
            hint: "its pg_hba.conf decides, ask who runs it",
        },
        Row {
            url: at("tess:s3cret", "perf"),
            stops: EVERY,
            says: &["failed to connect at ", "no encryption"],
            hint: "the server accepts only encrypted connections from here: add sslmode=require",
        },
        Row {
            url: at("harness:s3cret", "perf?sslmode=require"),
            stops: EVERY,
            says: &["failed to connect at ", &perf, "server does not support TLS"],
            hint: "the server has no TLS: use sslmode=prefer if the way to it is safe",
        },
        Row {
            url: at("harness:s3cret", "nodb"),
            stops: EVERY,
            says: &["failed to connect at ", "database \"nodb\" does not exist", "3D000"],
            hint: "create the database first, `createdb <database>`, then its schema: harness db migrate",
        },
        Row {
            url: at("harness:s3cret", "frozen"),
            stops: EVERY,
            says: &["failed to connect at ", "not currently accepting connections", "55000"],
            hint: "alter database",
        },
        Row {
            url: at("crowd:s3cret", "perf"),
            stops: &[LIST],
            says: &["failed to connect at ", "too many connections for role \"crowd\"", "53300"],
            hint: "had none for 5 s: try again, end idle clients, or raise its max_connections",
        },
        Row {
            url: at("harness:s3cret", "fresh"),
            stops: EVERY,
            says: &["the database at ", &shown("harness", "fresh"), "has no schema of the harness yet"],
            hint: "as somebody who may create in the database: harness db migrate",
        },
        Row {
            url: at("harness:s3cret", "older"),
            stops: EVERY,
            says: &[
                "the schema 5 of the database at ",
                &shown("harness", "older"),
                "older than this harness",
            ],
            hint: "harness db migrate",
        },
        Row {
            url: at("harness:s3cret", "later"),
            stops: EVERY,
            says: &[
                "schema 99 of the database at ",
                &shown("harness", "later"),
                "newer than this harness, which knows",
            ],
            hint: "upgrade harness",
        },
        Row {
            url: at("harness:s3cret", "edited"),
            stops: EVERY,
            says: &[
                "migration 2 (`append_only`) of the database at ",
                &shown("harness", "edited"),
                "not the one that this harness has",
            ],
            hint: "use the build of harness that made this database",
        },
        Row {
            url: at("stranger:s3cret", "perf"),
            stops: EVERY,
            says: &[
                "failed to read the schema's version at ",
                &shown("stranger", "perf"),
                "permission denied for schema harness",
                "42501",
            ],
            hint: "grant harness_reader (to look), harness_writer (to measure)",
        },
        Row {
            url: at("reader:s3cret", "perf"),
            stops: &[RUN],
            says: &[
                "failed to register the experiment at ",
                &shown("reader", "perf"),
                "permission denied",
                "42501",
            ],
            hint: "grant harness_reader (to look), harness_writer (to measure)",
        },
        Row {
            url: at("harness:s3cret", "replica"),
            stops: &[RUN],
            says: &[
                "failed to register the experiment at ",
                &shown("harness", "replica"),
                "read-only transaction",
                "25006",
            ],
            hint: "this server is read-only, perhaps a replica: use the primary's address",
        },
        Row {
            url: at("harness:s3cret", "filled"),
            stops: &[RUN],
            says: &[
                "failed to register the experiment at ",
                &shown("harness", "filled"),
                "No space left on device",
                "53100",
            ],
            hint: "the server's disk is full: free some space and repeat; nothing that was stored is lost",
        },
    ];
    let mut wrong = Vec::new();
    for row in &table {
        for args in row.stops {
            let told = told(&project, args, &row.url);
            let (problem, hint) = told.err.split_once("hint: ").unwrap_or((&told.err, ""));
            let mut lacks: Vec<&str> = row.says.iter().copied().filter(|it| !problem.contains(it)).collect();
            lacks.extend((!hint.contains(row.hint)).then_some(row.hint));
            if told.code != Some(1) || !lacks.is_empty() || told.to_string().contains("s3cret") {
                wrong.push(format!("{} {args:?} lacks {lacks:?}:\n{told}", row.url));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!project.path("ledgers").exists() && !project.path(".harness/pg").exists());
    // Who may only look can look.
    for url in [at("reader:s3cret", "perf"), at("harness:s3cret", "replica")] {
        for args in [LIST, STATUS] {
            let told = told(&project, args, &url);
            assert!(told.code == Some(0) && !told.to_string().contains("s3cret"), "{told}");
        }
    }
}
