use super::looks;
use crate::prereg::table::{Item, Table};
use crate::prereg::{Design, keys};
use crate::vocab::{Clock, Mode, Order, Process};

pub(super) const MOST_SAMPLES: i64 = 100_000;
const MOST_WARMUPS: i64 = 10_000;
/// Arguments and environment of a process together may have a quarter of its stack, usually 2 MiB.
const MOST_PADDING: i64 = 65_536;
const MOST_SLICES: i64 = 10_000;
const MOST_PROCESSES: i64 = 1_000;
/// Each is linked anew, for every arm.
const MOST_BUILDS: i64 = 100;

pub(super) fn read(root: &Table<'_>) -> Option<Design> {
    let table = root.section("design", keys::DESIGN)?;
    let warmups = table.or("warmups", 3, |it| it.whole(0..=MOST_WARMUPS));
    let samples = table.need("samples").and_then(|it| samples(&it));
    let order = table.or("order", Order::RandomBlocks, |it| it.word());
    let mode = table.or("mode", Mode::Turns, |it| it.word());
    let process = table.or("process", Process::PerArm, |it| it.word());
    let clock = table.or("clock", Clock::Wall, |it| it.word());
    // TOML and SQL both end at 63 bits.
    let seed = table.or("seed", 1, |it| it.whole(0..=i64::MAX));
    let slices = table.or("slices", 1, |it| it.whole(1..=MOST_SLICES));
    let processes = table.or("processes", 1, |it| it.whole(1..=MOST_PROCESSES));
    let builds = table.or("builds", 1, |it| it.whole(1..=MOST_BUILDS));
    if let (Some(2..), Some(2..), Some(item)) = (processes, builds, table.get("processes")) {
        item.problem::<()>(
            "`processes` beside `builds`: each build is run by one process",
            Some("leave one of the two out".to_owned()),
        );
    }
    let padding = table.or("padding", 0, |it| it.whole(0..=MOST_PADDING));
    let looks = table.maybe("looks", |it| looks::read(&it, samples));
    Some(Design {
        warmups: u32::try_from(warmups?).ok()?,
        samples: samples?,
        order: order?,
        mode: mode?,
        process: process?,
        clock: clock?,
        seed: u64::try_from(seed?).ok()?,
        slices: u32::try_from(slices?).ok()?,
        processes: u32::try_from(processes?.max(builds?)).ok()?,
        builds: u32::try_from(builds?).ok()?,
        padding: u32::try_from(padding?).ok()?,
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

#[cfg(test)]
mod tests {
    use crate::prereg::parse;

    const REST: &str = "[worker]\ncommand = [\"w\"]\nsystem = \"s\"\n[arms.a]\nrole = \"control\"\nparams.m = 1\n[arms.b]\n\
                        role = \"treatment\"\nparams.m = 2\n[metrics.time]\nunit = \"ms\"\nbetter = \"lower\"\n\
                        [[guards]]\nmetric = \"time\"\nmargin = 0.05\n";

    fn read(design: &str) -> Result<crate::prereg::Prereg, String> {
        let text = format!("id = \"x\"\ntitle = \"X\"\nledger = \"l\"\n{REST}[design]\n{design}\n");
        parse(&text, "x.toml").map_err(|it| it.to_string())
    }

    #[test]
    fn the_canonical_text_has_slices_and_processes_only_when_given() {
        let plain = read("samples = 40").unwrap().canonical();
        assert!(!plain.contains("slices") && !plain.contains("processes"), "{plain}");
        assert_eq!(read("samples = 40\nslices = 1\nprocesses = 1").unwrap().canonical(), plain);
        let given = read("samples = 40\nslices = 20\nprocesses = 8").unwrap();
        let text = given.canonical();
        assert!(text.contains("slices = 20\nprocesses = 8\n"), "{text}");
        assert_eq!(crate::prereg::parse_canonical(&text).unwrap(), given);
    }

    #[test]
    fn builds_are_processes_of_programs_that_are_built() {
        let built = REST.replace("command = [\"w\"]", "package = \"w\"");
        let read = |rest: &str, design: &str| {
            let text = format!("id = \"x\"\ntitle = \"X\"\nledger = \"l\"\n{rest}[design]\n{design}\n");
            parse(&text, "x.toml").map_err(|it| it.to_string())
        };
        let four = read(&built, "samples = 40\nbuilds = 4").unwrap();
        assert_eq!((four.design.builds, four.design.processes), (4, 4));
        let text = four.canonical();
        assert!(text.contains("builds = 4\n") && !text.contains("processes"), "{text}");
        assert_eq!(crate::prereg::parse_canonical(&text).unwrap(), four);
        let made = |git: &str| {
            let own = format!("command = [\"./a\"]\nbuild = [\"make\"]\n{git}");
            REST.replace("params.m = 1\n", &format!("params.m = 1\n{own}"))
                .replace("params.m = 2\n", &format!("params.m = 2\n{own}"))
        };
        read(&made("git = \"main\"\n"), "samples = 40\nbuilds = 4").unwrap();
        for (rest, design, expected) in [
            (REST, "samples = 40\nbuilds = 4", "`builds` in [design], but arm `a` is not built"),
            (
                &made(""),
                "samples = 40\nbuilds = 4",
                "arm `b` is built in the work tree, where each build would",
            ),
            (&built, "samples = 41\nbuilds = 4", "41 samples cannot be divided evenly among 4 builds"),
            (&built, "samples = 40\nbuilds = 4\nprocesses = 2", "each build is run by one process"),
            (&built, "samples = 40\nbuilds = 4\nprocess = \"per-block\"", "`builds` with `process"),
            (&built, "samples = 40\nbuilds = 4\n[design.looks]\nat = [20, 40]", "the build is the unit"),
        ] {
            let problems = read(rest, design).unwrap_err();
            assert!(problems.contains(expected), "{design}\n{problems}");
        }
    }

    #[test]
    fn parts_that_do_not_go_together_are_refused() {
        for (design, expected) in [
            ("samples = 30\nprocesses = 8", "30 samples cannot be divided evenly among 8 processes"),
            ("samples = 30\nprocesses = 8", "`samples = 32`"),
            (
                "samples = 32\nprocesses = 8\nprocess = \"per-block\"",
                "every block has a process of its own already",
            ),
            ("samples = 32\nprocesses = 8\n[design.looks]\nat = [16, 32]", "looks count blocks"),
            ("samples = 32\nslices = 4\norder = \"sequential\"", "there the arms never meet"),
            ("samples = 32\nslices = 0", "`slices` in [design]"),
            ("samples = 32\nmode = \"duet\"\norder = \"sequential\"", "and there they never meet"),
            ("samples = 32\nmode = \"duet\"", "`test = \"wilcoxon\"` or `test = \"paired-t\"`"),
            (
                "samples = 32\nmode = \"duet\"\n[arms.c]\nrole = \"null\"\nparams.m = 3",
                "3 arms, a duet has two",
            ),
        ] {
            let problems = read(design).unwrap_err();
            assert!(problems.contains(expected), "{design}\n{problems}");
        }
    }
}
