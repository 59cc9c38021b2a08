//! Killing a process that writes, again and again, on the real file system.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use engine::store::{ByteStore, Durability};
use engine::{Error, LoadStrategy};

/// Names the store to a test that is to be a child.
const CHILD: &str = "ENGINE_STORE_CHILD";
const THREADS: u64 = 3;

fn child(test: &str, directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(CHILD, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn key(thread: u64, index: u64) -> Vec<u8> {
    [&[thread as u8][..], &index.to_be_bytes()].concat()
}

/// Commits keys one after the other and says so after each; from time to time a checkpoint.
#[test]
#[ignore = "a child of the test below"]
fn write_until_killed() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    let store = ByteStore::<u64>::open(directory, Durability::Sync).unwrap();
    let commits = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, commits) = (&store, &commits);
            scope.spawn(move || {
                let first = store.snapshot().prefix(&[thread as u8]).count() as u64;
                for index in first.. {
                    assert_eq!(store.insert(&key(thread, index), index).unwrap(), None);
                    // One write a line, so that a kill cuts none.
                    std::io::stdout().write_all(format!("ack {thread} {index}\n").as_bytes()).unwrap();
                    if commits.fetch_add(1, Ordering::Relaxed) % 23 == 22 {
                        store.checkpoint().unwrap();
                    }
                }
            });
        }
    });
}

#[test]
fn kills_lose_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = [0; THREADS as usize];
    for storm in 0..12 {
        let mut child = child("write_until_killed", folder.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acks = 0;
        let mut killed = false;
        // After the kill, what was said before it is still to be read.
        while let Some(Ok(line)) = lines.next() {
            if let Some((_, ack)) = line.split_once("ack ") {
                let (thread, index) = ack.split_once(' ').unwrap();
                let count = &mut acknowledged[thread.parse::<usize>().unwrap()];
                *count = index.parse::<u64>().unwrap() + 1;
                acks += 1;
            }
            if acks > storm * 9 && !killed {
                child.kill().unwrap();
                killed = true;
            }
        }
        child.wait().unwrap();
        assert!(killed, "the child ended by itself");
        let store = ByteStore::<u64>::open(folder.path(), Durability::Async).unwrap();
        for (thread, count) in (0..).zip(&mut acknowledged) {
            let found: Vec<_> = store.snapshot().prefix(&[thread as u8]).map(Result::unwrap).collect();
            let expected = (0..found.len() as u64).map(|index| (key(thread, index), index));
            assert!(found.iter().cloned().eq(expected), "thread {thread}: {found:?}");
            let len = found.len() as u64;
            assert!(len == *count || len == *count + 1, "thread {thread}: {len} keys, {count} acknowledged");
            *count = len;
        }
    }
}

#[test]
#[ignore = "a child of the test below"]
fn be_refused() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    let refused = ByteStore::<u64>::open(directory, Durability::Sync);
    assert!(matches!(refused, Err(Error::Locked { by: "another process", .. })), "{refused:?}");
    std::io::stdout().write_all(b"refused\n").unwrap();
}

#[test]
fn a_second_process_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = ByteStore::<u64>::open(folder.path(), Durability::Sync).unwrap();
    store.insert(b"a", 1).unwrap();
    let output = child("be_refused", folder.path()).wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("refused"));
    store.insert(b"b", 1).unwrap();
    // Images are files of their own: reading one needs no lock.
    store.checkpoint().unwrap();
    let image = engine::ByteTrie::<u64>::open(folder.path().join("base-2.trie"), LoadStrategy::Lazy).unwrap();
    assert_eq!(image.len(), 2);
}
