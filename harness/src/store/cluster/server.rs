//! Starting, finding and stopping the server. Every function wants the start lock held.

use super::account::Account;
use super::binaries::{self, Binaries};
use super::{Cluster, StoreError, data, live, socket, spawn};
use crate::store::address::Unreached;
use crate::store::explain;
use postgres::Client;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a server may take to accept a connection; recovery after a crash is counted in it.
const START_PATIENCE: Duration = Duration::from_secs(120);
/// How long processes that answer nobody may hold the data directory.
const ORPHAN_PATIENCE: Duration = Duration::from_secs(20);
/// How long a fast shutdown may take before an immediate one.
const STOP_PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(3);

/// Settings of every start. They are not in `postgresql.conf`, so data and programs may vary.
///
/// The second half keeps the idle server from waking up while something is measured. Without autovacuum the
/// store analyses its tables itself, when a run is complete.
const SETTINGS: &[(&str, &str)] = &[
    ("listen_addresses", ""),
    ("port", "5432"),
    ("unix_socket_permissions", "0700"),
    ("max_connections", "40"),
    ("shared_buffers", "64MB"),
    ("wal_level", "minimal"),
    ("max_wal_senders", "0"),
    ("max_wal_size", "1GB"),
    ("jit", "off"),
    ("timezone", "UTC"),
    ("log_timezone", "UTC"),
    ("search_path", "harness,public"),
    ("fsync", "on"),
    ("synchronous_commit", "on"),
    ("autovacuum", "off"),
    ("bgwriter_delay", "10s"),
    ("bgwriter_lru_maxpages", "0"),
    ("wal_writer_delay", "10s"),
    ("checkpoint_timeout", "1h"),
    ("log_checkpoints", "off"),
    ("max_logical_replication_workers", "0"),
    ("update_process_title", "off"),
];

/// Makes sure that the server of `cluster` runs. Gives the child when it was started here, and the connection over which
/// it answered.
pub(super) fn ensure(
    cluster: &Cluster,
    account: &Account,
    notice: &dyn Fn(&str),
) -> Result<(Option<Child>, Client), StoreError> {
    let data = cluster.data();
    let began = Instant::now();
    let mut silent_since: Option<Instant> = None;
    let mut child: Option<Child> = None;
    loop {
        let pids = live::processes(&data);
        let starting = match child.as_mut().map(Child::try_wait) {
            Some(Ok(None)) => true,
            Some(_) => return Err(ended(cluster)),
            None => false,
        };
        if pids.is_empty() && !starting {
            child = Some(start(cluster, account, notice)?);
            continue;
        }
        match answers(cluster)? {
            Answer::Yes(client) => return Ok((child, *client)),
            Answer::Wait => silent_since = None,
            Answer::Silence => {
                let since = *silent_since.get_or_insert_with(Instant::now);
                if child.is_none() && since.elapsed() > ORPHAN_PATIENCE {
                    return Err(orphans(&pids, &data));
                }
            }
        }
        if began.elapsed() > START_PATIENCE {
            return Err(StoreError::Cluster {
                problem: format!(
                    "the private server did not accept a connection for {} s",
                    START_PATIENCE.as_secs()
                ),
                log: log_tail(cluster.dir()),
                remedy: None,
            });
        }
        thread::sleep(PAUSE);
    }
}

enum Answer {
    Yes(Box<Client>),
    /// Starting, recovering or stopping.
    Wait,
    /// Nobody at the socket.
    Silence,
}

fn answers(cluster: &Cluster) -> Result<Answer, StoreError> {
    let address = cluster.address();
    let error = match address.connect() {
        Ok(client) => return serves(cluster, client),
        Err(Unreached::Silent) => return Ok(Answer::Silence),
        Err(Unreached::Refused(error)) => error,
    };
    match error.code().map(|it| it.code().to_owned()).as_deref() {
        Some("57P03" | "53300") => Ok(Answer::Wait),
        Some(_) => Err(explain::explain(&error, "use the private server", address.location())),
        // Refused, no socket yet, or closed in the middle by a server that stops.
        None => Ok(Answer::Silence),
    }
}

/// Whether the server that answers is the cluster's own.
fn serves(cluster: &Cluster, mut client: Client) -> Result<Answer, StoreError> {
    let asked = client
        .query_typed_one("select current_setting('data_directory')", &[])
        .and_then(|row| row.try_get::<_, String>(0));
    let served = asked.map_err(|error| {
        explain::explain(&error, "ask the private server for its data", cluster.address().location())
    })?;
    if Path::new(&served) == cluster.data() {
        Ok(Answer::Yes(Box::new(client)))
    } else {
        Err(stranger(cluster, &served))
    }
}

fn start(cluster: &Cluster, account: &Account, notice: &dyn Fn(&str)) -> Result<Child, StoreError> {
    let data = cluster.data();
    let options = &cluster.options;
    let needed = data::major(&data)?;
    let binaries = binaries::find(options, account, needed, notice)?;
    if needed.is_none() {
        let sync = !options.settings.iter().any(|(key, value)| key == "fsync" && value == "off");
        data::create(&data, &binaries, account, sync)?;
    }
    // Nobody works in the data directory, so whatever these files say is over.
    for stale in [data.join("postmaster.pid"), cluster.socket.join(format!("{}.lock", socket::NAME))] {
        match fs::remove_file(&stale) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", stale, error));
            }
            _ => {}
        }
    }
    spawn_server(cluster, account, &binaries)
}

fn spawn_server(cluster: &Cluster, account: &Account, binaries: &Binaries) -> Result<Child, StoreError> {
    use std::os::unix::process::CommandExt;
    let path = cluster.dir().join("server.log");
    let log = File::create(&path).map_err(|error| StoreError::io("create", &path, error))?;
    let program = binaries.program("postgres");
    let mut command = spawn::program(&program, account);
    command.arg("-D").arg(cluster.data());
    let mut set = |key: &str, value: &str| {
        command.arg("-c").arg(format!("{key}={value}"));
    };
    for (key, value) in SETTINGS {
        set(key, value);
    }
    if binaries.major >= 18 {
        set("io_method", "sync");
    }
    for (key, value) in &cluster.options.settings {
        set(key, value);
    }
    command.arg("-k").arg(&cluster.socket);
    // Out of the terminal's process group: Ctrl-C is for the harness, which stops the server when it is done.
    command.process_group(0).stdout(Stdio::null()).stderr(log);
    command.spawn().map_err(|error| StoreError::io("run", program, error))
}

/// Stops the server, gently first.
pub(super) fn stop(data: &Path, dir: &Path) -> Result<(), StoreError> {
    let mut pids = live::processes(data);
    let Some(postmaster) = live::postmaster(data).filter(|pid| pids.contains(pid)).and_then(Pid::from_raw)
    else {
        return Ok(());
    };
    for (signal, patience) in [(Signal::INT, STOP_PATIENCE), (Signal::QUIT, Duration::from_secs(10))] {
        // A process that is gone already is what was wanted.
        let _ = kill_process(postmaster, signal);
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            pids = live::remaining(&pids, data);
            if pids.is_empty() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
    Err(StoreError::Cluster {
        problem: format!("the private server does not stop: processes {}", list(&pids)),
        log: log_tail(dir),
        remedy: None,
    })
}

fn ended(cluster: &Cluster) -> StoreError {
    let log = log_tail(cluster.dir());
    let text = log.join("\n");
    let remedy = if text.contains("No space left") {
        Some("free some space; nothing that was stored is lost")
    } else if text.contains("could not create shared memory") {
        Some("the system's shared memory is used up: see `ipcs -m`")
    } else {
        None
    };
    StoreError::Cluster {
        problem: format!("the private server in `{}` ended at its start", cluster.dir().display()),
        log,
        remedy: remedy.map(str::to_owned),
    }
}

fn orphans(pids: &[i32], data: &Path) -> StoreError {
    StoreError::Cluster {
        problem: format!("processes {} hold `{}` and answer nobody", list(pids), data.display()),
        log: Vec::new(),
        remedy: Some(format!("they are left over from a killed server; end them: kill {}", list(pids))),
    }
}

fn stranger(cluster: &Cluster, served: &str) -> StoreError {
    StoreError::Cluster {
        problem: format!(
            "another server answers at `{}`: its data is in `{served}`",
            cluster.socket.join(socket::NAME).display()
        ),
        log: Vec::new(),
        remedy: Some("stop that server, or keep the store somewhere else with --database-url".to_owned()),
    }
}

fn list(pids: &[i32]) -> String {
    pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The end of the log, without what it says of those who asked meanwhile whether it is ready.
fn log_tail(dir: &Path) -> Vec<String> {
    let log = fs::read_to_string(dir.join("server.log")).unwrap_or_default();
    let asked = ["FATAL:  the database system is", "DETAIL:  Consistent recovery state has not"];
    let lines: Vec<&str> = log.lines().filter(|line| !asked.iter().any(|it| line.contains(it))).collect();
    spawn::tail(&lines.join("\n"), 8)
}
