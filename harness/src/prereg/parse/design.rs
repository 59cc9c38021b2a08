use super::looks;
use crate::prereg::table::{Item, Table};
use crate::prereg::{Design, keys};
use crate::vocab::{Clock, Order, Process};

pub(super) const MOST_SAMPLES: i64 = 100_000;
const MOST_WARMUPS: i64 = 10_000;

pub(super) fn read(root: &Table<'_>) -> Option<Design> {
    let table = root.section("design", keys::DESIGN)?;
    let warmups = table.or("warmups", 3, |it| it.whole(0..=MOST_WARMUPS));
    let samples = table.need("samples").and_then(|it| samples(&it));
    let order = table.or("order", Order::RandomBlocks, |it| it.word());
    let process = table.or("process", Process::PerArm, |it| it.word());
    let clock = table.or("clock", Clock::Wall, |it| it.word());
    // TOML and SQL both end at 63 bits.
    let seed = table.or("seed", 1, |it| it.whole(0..=i64::MAX));
    let looks = table.maybe("looks", |it| looks::read(&it, samples));
    Some(Design {
        warmups: u32::try_from(warmups?).ok()?,
        samples: samples?,
        order: order?,
        process: process?,
        clock: clock?,
        seed: u64::try_from(seed?).ok()?,
        looks: looks?,
    })
}

fn samples(item: &Item<'_>) -> Option<u32> {
    if let Some(few @ (0 | 1)) = item.integer() {
        return item.problem(
            format!("{} is `{few}`, expected at least 2: a variance needs two samples", item.what),
            Some("30 samples show a difference of about three quarters of a standard deviation".to_owned()),
        );
    }
    u32::try_from(item.whole(2..=MOST_SAMPLES)?).ok()
}
