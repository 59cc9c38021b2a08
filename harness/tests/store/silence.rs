//! A server that falls silent: its connections stay open and nothing comes any more.

use crate::support::*;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Stands between client and server, and can stop passing anything on: no byte, no end.
struct Proxy {
    port: u16,
    frozen: Arc<AtomicBool>,
}

impl Proxy {
    fn before(socket: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let frozen = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&frozen);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&socket) else { continue };
                let (back, forth) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let frozen = Arc::clone(&shared);
                std::thread::spawn(move || relay(client, forth, &frozen));
                let frozen = Arc::clone(&shared);
                std::thread::spawn(move || relay(server, back, &frozen));
            }
        });
        Self { port, frozen }
    }

    fn freeze(&self, frozen: bool) {
        self.frozen.store(frozen, Ordering::SeqCst);
    }
}

fn relay(mut from: impl Read, mut to: impl Write, frozen: &AtomicBool) {
    let mut buffer = [0; 8192];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        if frozen.load(Ordering::SeqCst) {
            // For good: what was connected then never hears anything again.
            loop {
                std::thread::park();
            }
        }
        if to.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
}

#[test]
fn a_server_that_falls_silent_is_given_up_and_found_again() {
    let database = Database::new();
    let Some((_, folder)) = database.url.split_once("host=") else { return };
    let folder = folder.split('&').next().unwrap();
    let name: String = database.client().query_one("select current_database()::text", &[]).unwrap().get(0);
    let proxy = Proxy::before(format!("{folder}/.s.PGSQL.5432"));
    let url = format!("postgres://harness@127.0.0.1:{}/{name}?tcp_user_timeout=1000", proxy.port);
    let (direct, run) = begun(&database);
    drop(direct);
    let mut store = open(&url);
    store.append_block(run.id, &[set("eager", 0, &[1.0])], &[]).unwrap();
    // Nobody waits for the server meanwhile: that is no silence.
    std::thread::sleep(Duration::from_millis(1500));
    store.append_block(run.id, &[set("eager", 1, &[2.0])], &[]).unwrap();
    proxy.freeze(true);
    let began = Instant::now();
    let error = store.append_block(run.id, &[set("eager", 2, &[3.0])], &[]).unwrap_err();
    assert!(error.is_lost(), "{error:?}");
    assert!(error.to_string().contains("the server said nothing for 1 s"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    proxy.freeze(false);
    store.reconnect().unwrap();
    store.append_block(run.id, &[set("eager", 2, &[3.0])], &[]).unwrap();
    let sets = store.run(run.id).unwrap().unwrap().sets;
    assert_eq!(sets.iter().map(|it| it.values.clone()).collect::<Vec<_>>(), [[1.0, 2.0, 3.0]]);
}
