//! Counts the words of its arguments in a store that remembers them from run to run.
//!
//! `cargo run -p engine --example store -- target/words to be or not to be`
#![expect(clippy::print_stdout, reason = "it is a program")]

use engine::{CharStore, Durability};

fn main() -> engine::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| "target/words".to_owned());
    let store = CharStore::<u64>::open(&directory, Durability::Sync)?;

    // One commit: after a crash all words of this run are counted, or none.
    let mut writer = store.writer();
    for word in arguments {
        let count = writer.get(&word)?.unwrap_or(0);
        writer.insert(&word, count + 1)?;
    }
    writer.commit()?;

    for entry in &store.snapshot() {
        let (word, count) = entry?;
        println!("{count:6}  {word}");
    }
    if store.statistics().log_bytes > 1 << 20 {
        store.checkpoint()?;
    }
    store.close()
}
