//! One server for all tests that run at the same time, and a database of its own for each test.
//!
//! The server is the cluster manager's, with `fsync` off; it is stopped and removed by the last test that uses
//! it. `HARNESS_TEST_DATABASE_URL` names another server in its place.

use harness::store::cluster::{Cluster, ClusterOptions};
use harness::store::{
    CellArm, Event, Git, Registration, Run, RunArm, SampleSet, Store, StoreError, StoreOptions,
    StoredFinding, StoredVerdict, Subject,
};
use harness::vocab::{Digest, Finding, RunState, Verdict};
use jiff::Timestamp;
use postgres::{Client, NoTls};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use uuid::Uuid;

/// The server of the tests.
struct Server {
    // Disconnected before the server is stopped.
    admin: Option<Mutex<Client>>,
    cluster: Option<Cluster>,
    url: String,
}

static SERVER: Mutex<Weak<Server>> = Mutex::new(Weak::new());
const TEMPLATE: &str = "harness_test_template";

impl Server {
    fn get() -> Arc<Self> {
        let mut shared = SERVER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return server;
        }
        let server = Arc::new(Self::start());
        *shared = Arc::downgrade(&server);
        server
    }

    fn start() -> Self {
        let (cluster, url) = match std::env::var("HARNESS_TEST_DATABASE_URL") {
            Ok(url) => (None, url),
            Err(_) => {
                let uid = rustix::process::geteuid().as_raw();
                let memory = Path::new("/dev/shm");
                let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
                let dir = folder.join(format!("harness-store-tests-{uid}"));
                let fast = [
                    ("fsync", "off"),
                    ("full_page_writes", "off"),
                    ("synchronous_commit", "off"),
                    ("shared_buffers", "32MB"),
                    ("max_connections", "100"),
                ];
                let settings = fast.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
                let options = ClusterOptions { settings, ..cluster_options(&dir) };
                let cluster = Cluster::acquire(&options, &|_| {}).unwrap();
                let url = cluster.url();
                (Some(cluster), url)
            }
        };
        let mut admin = Client::connect(&url, NoTls).unwrap();
        // Test processes that share the server make the template once.
        admin.batch_execute("select pg_advisory_lock(1)").unwrap();
        let known = admin.query("select 1 from pg_database where datname = $1", &[&TEMPLATE]).unwrap();
        if known.is_empty() {
            let draft = format!("{TEMPLATE}_draft");
            admin.batch_execute(&format!("drop database if exists {draft}")).unwrap();
            admin.batch_execute(&format!("create database {draft} template template0")).unwrap();
            migrated(&of_database(&url, &draft)).close().unwrap();
            admin.batch_execute(&format!("alter database {draft} rename to {TEMPLATE}")).unwrap();
        }
        admin.batch_execute("select pg_advisory_unlock(1)").unwrap();
        Self { admin: Some(Mutex::new(admin)), cluster, url }
    }

    fn run(&self, sql: &str) {
        self.admin.as_ref().unwrap().lock().unwrap().batch_execute(sql).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.admin = None;
        if let Some(cluster) = self.cluster.take() {
            cluster.discard().unwrap();
        }
    }
}

/// A database of one test.
pub(crate) struct Database {
    name: String,
    pub(crate) url: String,
    server: Arc<Server>,
}

impl Database {
    /// With the schema.
    pub(crate) fn new() -> Self {
        Self::from(TEMPLATE)
    }

    /// Without the schema.
    pub(crate) fn empty() -> Self {
        Self::from("template0")
    }

    fn from(template: &str) -> Self {
        let server = Server::get();
        let name = format!("harness_test_{}", Uuid::now_v7().simple());
        server.run(&format!("create database {name} template {template}"));
        Self { url: of_database(&server.url, &name), name, server }
    }

    pub(crate) fn store(&self) -> Store {
        open(&self.url)
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.url, NoTls).unwrap()
    }

    /// Whether the user of the server may make roles; says that a test is skipped if not.
    #[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
    pub(crate) fn may_make_roles(&self) -> bool {
        let asked = "select rolsuper or rolcreaterole from pg_roles where rolname = current_user";
        let may: bool = self.client().query_one(asked, &[]).unwrap().get(0);
        if !may {
            println!("skipped: the user of the test server may not make roles");
        }
        may
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // On the ephemeral server everything goes at the end, and faster.
        if self.server.cluster.is_some() {
            return;
        }
        // Who is no superuser ends no connection of another role; those are about to go.
        let sql = format!("drop database if exists {} with (force)", self.name);
        for _ in 0..100 {
            if self.server.admin.as_ref().unwrap().lock().unwrap().batch_execute(&sql).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// The same server, another database.
pub(crate) fn of_database(url: &str, name: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let (server, _) = base.rsplit_once('/').unwrap();
    query.map_or_else(|| format!("{server}/{name}"), |query| format!("{server}/{name}?{query}"))
}

pub(crate) fn open(url: &str) -> Store {
    try_open(url).unwrap()
}

pub(crate) fn try_open(url: &str) -> Result<Store, StoreError> {
    Store::open(&of_url(url))
}

/// Opens a store whose schema may be missing.
pub(crate) fn migrated(url: &str) -> Store {
    try_migrate(url).unwrap().0
}

pub(crate) fn try_migrate(url: &str) -> Result<(Store, Vec<i32>), StoreError> {
    Store::migrate(&of_url(url))
}

fn of_url(url: &str) -> StoreOptions<'static> {
    StoreOptions { url: Some(url.to_owned()), ..options(Path::new("/nonexistent")) }
}

/// The private cluster of a project.
pub(crate) fn options(project: &Path) -> StoreOptions<'static> {
    StoreOptions {
        project: project.to_owned(),
        url: None,
        pg_bin: None,
        data_home: data_home(),
        autoinstall: true,
        notice: &|_| {},
    }
}

pub(crate) fn cluster_options(dir: &Path) -> ClusterOptions {
    ClusterOptions {
        dir: dir.to_owned(),
        pg_bin: None,
        data_home: data_home(),
        autoinstall: true,
        settings: vec![],
    }
}

/// Where binaries are kept that a machine without Postgres has fetched for its tests.
fn data_home() -> PathBuf {
    std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share")))
        .unwrap_or_else(std::env::temp_dir)
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn registration(experiment: &str, version: u32) -> Registration {
    let doc = json!({
        "id": experiment,
        "arms": {"eager": {"role": "control", "params": {"strategy": "eager"}}, "lazy": {"role": "treatment"}},
        "version": version,
        "margin": 0.5,
    });
    let canonical = doc.to_string();
    Registration {
        experiment: experiment.to_owned(),
        title: "Lazy loading".to_owned(),
        version,
        digest: Digest::of(&canonical),
        canonical,
        doc,
        git: git(),
        registered_at: at("2026-01-10T08:00:00.123456Z"),
        reason: (version > 1).then(|| "a longer warm-up".to_owned()),
    }
}

fn git() -> Git {
    Git { commit: "0123456789abcdef0123456789abcdef01234567".to_owned(), dirty: true }
}

pub(crate) fn run_of(registration: &Registration) -> Run {
    Run {
        id: Uuid::now_v7(),
        experiment: registration.experiment.clone(),
        version: registration.version,
        registration: registration.digest,
        host: "quiet-otter".to_owned(),
        environment: json!({"cpu": "Z80", "load": -0.0, "memory": 1e16}),
        harness: "0.1.0".to_owned(),
        seed: u64::MAX - 1,
        git: git(),
        started_at: at("2026-01-10T09:00:00.000001Z"),
    }
}

pub(crate) fn arms() -> Vec<RunArm> {
    ["eager", "lazy"]
        .map(|arm| RunArm {
            arm: arm.to_owned(),
            command: vec!["target/release/experiments".to_owned(), arm.to_owned()],
            env: [("STRATEGY".to_owned(), arm.to_owned())].into(),
            binary: Some(Digest::of(arm)),
            build: None,
        })
        .to_vec()
}

pub(crate) fn set(arm: &str, first_block: u32, values: &[f64]) -> SampleSet {
    SampleSet {
        metric: "open_time".to_owned(),
        cell: "terms=1000".to_owned(),
        arm: arm.to_owned(),
        warmup: false,
        first_block,
        unit: "ms".to_owned(),
        values: values.to_vec(),
        at_ns: (0..values.len() as i64).map(|i| 1_000 + i).collect(),
    }
}

pub(crate) fn cell_arm(arm: &str) -> CellArm {
    CellArm {
        cell: "terms=1000".to_owned(),
        arm: arm.to_owned(),
        effective: json!({"strategy": arm}),
        result: "9f3c".to_owned(),
    }
}

pub(crate) fn event(seq: u32, state: RunState) -> Event {
    let detail = (state == RunState::Failed).then(|| json!({"reason": "worker died", "stderr": ["oh"]}));
    Event { seq, at: at("2026-01-10T09:30:00Z"), state, detail }
}

pub(crate) fn verdict(run: Uuid, seq: u32) -> StoredVerdict {
    StoredVerdict {
        run,
        seq,
        verdict: Verdict::Accept,
        doc: json!({"gain": -0.0, "p": 3.2e-60, "n": 1e16, "z": 1, "a": 2}),
        harness: "0.1.0".to_owned(),
        decided_at: at("2026-01-10T10:00:00Z"),
    }
}

pub(crate) fn finding(subject: Subject, id: &str) -> StoredFinding {
    StoredFinding {
        subject,
        id: id.to_owned(),
        metric: "open_time".to_owned(),
        cell: "terms=1000".to_owned(),
        treatment: "lazy".to_owned(),
        control: "eager".to_owned(),
        finding: Finding::Supported,
        n_control: 30,
        n_treatment: 30,
        mean_control: Some(34.8),
        mean_treatment: Some(0.7),
        gain: Some(0.9798),
        gain_low: Some(0.97),
        gain_high: None,
        statistic: Some(-302.0),
        df: Some(29.5),
        p_value: Some(0.0),
        ln_p: Some(-1234.5),
        p_adjusted: Some(0.0),
        effect_size: Some(-77.9),
    }
}

/// A store with a registered experiment and a begun run.
pub(crate) fn begun(database: &Database) -> (Store, Run) {
    let mut store = database.store();
    let registration = registration("exp-1-lazy", 1);
    store.register(&registration).unwrap();
    let run = run_of(&registration);
    store.begin_run(&run, &arms()).unwrap();
    (store, run)
}

/// A server with a database, `perf`, that wants a password.
pub(crate) struct PasswordServer {
    url: String,
    cluster: Option<Cluster>,
    _dir: tempfile::TempDir,
}

impl PasswordServer {
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let access = dir.path().join("access.conf");
        std::fs::write(&access, "local postgres harness trust\nlocal all all scram-sha-256\n").unwrap();
        let settings = vec![
            ("hba_file".to_owned(), access.display().to_string()),
            ("fsync".to_owned(), "off".to_owned()),
        ];
        let options = ClusterOptions { settings, ..cluster_options(&dir.path().join("pg")) };
        let cluster = Cluster::acquire(&options, &|_| {}).unwrap();
        let url = cluster.url();
        let mut client = Client::connect(&url, NoTls).unwrap();
        client.batch_execute("create database perf").unwrap();
        client.batch_execute("alter role harness password 's3cret'").unwrap();
        Self { url: of_database(&url, "perf"), cluster: Some(cluster), _dir: dir }
    }

    pub(crate) fn url(&self, user: &str) -> String {
        self.url.replacen("harness@", &format!("{user}@"), 1)
    }
}

impl Drop for PasswordServer {
    fn drop(&mut self) {
        if let Some(cluster) = self.cluster.take() {
            cluster.discard().unwrap();
        }
    }
}
