use super::design::MOST_SAMPLES;
use crate::prereg::table::Item;
use crate::prereg::{Looks, Schedule, Stopping, keys};
use crate::vocab::{LookMethod, Spending};

/// Before so many blocks, a t is too far from the normal z that boundaries are made for.
const FIRST: u32 = 10;

/// Group-sequential looks; more are not worth their boundaries.
const MOST_BOUNDARIES: usize = 20;

/// Looks of any kind: each is a decision.
const MOST_LOOKS: usize = 1_000;

/// The table `[design.looks]` of a design with so many samples.
pub(super) fn read(item: &Item<'_>, samples: Option<u32>) -> Option<Looks> {
    let table = item.table("in [design.looks]".to_owned(), Some(keys::LOOKS))?;
    let method = table.or("method", LookMethod::GroupSequential, |it| it.word());
    let spending = table.maybe("spending", |it| it.word::<Spending>());
    let at = table.maybe("at", |it| ascending(&it, samples));
    let every = table.maybe("every", |it| every(&it, samples));
    let (method, spending, at, every) = (method?, spending?, at?, every?);
    let schedule = match (at, every) {
        (Some(_), Some(_)) => {
            return item.problem("[design.looks] has both `at` and `every`, expected one of them", None);
        }
        (Some(at), None) => Schedule::At(at),
        (None, Some(every)) => Schedule::Every(every),
        (None, None) if method == LookMethod::SignEProcess => Schedule::Every(1),
        (None, None) => {
            return item.problem(
                "`at` is missing in [design.looks]: group-sequential looks are planned",
                Some(
                    "such as `at = [20, 40, 60]`, of which the last one is `samples`, or `every = 20`".into(),
                ),
            );
        }
    };
    let samples = samples?;
    let (first, count) = match &schedule {
        Schedule::At(at) => (at.first().copied().unwrap_or(samples), at.len()),
        Schedule::Every(every) => (*every, samples.div_ceil(*every) as usize),
    };
    let most = if method == LookMethod::SignEProcess { MOST_LOOKS } else { MOST_BOUNDARIES };
    if count > most {
        return item.problem(format!("[design.looks] has {count} looks, at most {most} are allowed"), None);
    }
    let stopping = match method {
        LookMethod::GroupSequential if first < FIRST => {
            return item.problem(
                format!("the first look is after {first} blocks, expected at least {FIRST}"),
                Some("boundaries are made for means of many samples; the sign e-process is sound from the first".into()),
            );
        }
        LookMethod::GroupSequential if too_close(&schedule, samples) => {
            return item.problem(
                "two looks lie closer than 0.01 % of `samples`: no boundary tells them apart",
                Some("leave one of them out".into()),
            );
        }
        LookMethod::GroupSequential => Stopping::GroupSequential(spending.unwrap_or(Spending::OBrienFleming)),
        LookMethod::SignEProcess if spending.is_some() => {
            return item.problem(
                "`spending` in [design.looks] with `sign-e-process`, which spends no alpha",
                Some("leave `spending` out".into()),
            );
        }
        LookMethod::SignEProcess => Stopping::SignEProcess,
    };
    Some(Looks { schedule, stopping })
}

fn too_close(schedule: &Schedule, samples: u32) -> bool {
    let Schedule::At(at) = schedule else { return false };
    at.array_windows().any(|[before, after]| u64::from(after - before) * 10_000 < u64::from(samples))
}

/// Numbers of blocks, ascending, the last of which are all.
fn ascending(item: &Item<'_>, samples: Option<u32>) -> Option<Vec<u32>> {
    let members: Vec<_> = item.list(MOST_LOOKS)?.iter().map(|it| it.whole(2..=i64::from(u32::MAX))).collect();
    let blocks: Vec<u32> =
        members.into_iter().map(|it| u32::try_from(it?).ok()).collect::<Option<Vec<_>>>()?;
    let Some(last) = blocks.last() else {
        return item.wrong("at least one number of blocks");
    };
    if let Some([before, after]) = blocks.array_windows().find(|[before, after]| before >= after) {
        return item.problem(
            format!("{} has {after} after {before}, expected numbers that ascend", item.what),
            None,
        );
    }
    let samples = samples?;
    if *last != samples {
        return item.problem(
            format!("the last look is after {last} blocks, but `samples` is {samples}, expected the same"),
            Some("the last look is the end of the run".to_owned()),
        );
    }
    Some(blocks)
}

fn every(item: &Item<'_>, samples: Option<u32>) -> Option<u32> {
    let most = samples.map_or(MOST_SAMPLES, i64::from);
    u32::try_from(item.whole(1..=most)?).ok()
}

#[cfg(test)]
mod tests {
    use crate::prereg::{Schedule, Stopping, parse};
    use crate::vocab::Spending;

    const REST: &str = "id = \"x\"\ntitle = \"X\"\nledger = \"l\"\n[worker]\ncommand = [\"w\"]\nsystem = \"s\"\n\
        [arms.a]\nrole = \"control\"\nparams.m = 1\n[arms.b]\nrole = \"treatment\"\nparams.m = 2\n\
        [metrics.t]\nunit = \"ms\"\nbetter = \"lower\"\n";
    const CLAIM: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"t\"\n";

    fn text(samples: u32, looks: &str, more: &str) -> String {
        format!("{REST}[design]\nsamples = {samples}\n{looks}\n{more}")
    }

    #[test]
    fn looks_are_read_and_written() {
        let cases = [
            ("[design.looks]\nat = [20, 40, 60]", vec![20, 40, 60]),
            ("looks = { every = 25, spending = \"pocock\" }", vec![25, 50, 60]),
            ("looks = { method = \"sign-e-process\", every = 30 }", vec![30, 60]),
            ("[design.looks]\nmethod = \"sign-e-process\"", (1..=60).collect()),
        ];
        for (looks, stops) in cases {
            let prereg = parse(&text(60, looks, CLAIM), "x").unwrap();
            assert_eq!(prereg.design.stops(), stops);
            assert_eq!(parse(&prereg.canonical(), "x").unwrap(), prereg);
        }
        let prereg = parse(&text(60, "looks.at = [30, 60]", CLAIM), "x").unwrap();
        let looks = prereg.design.looks.unwrap();
        assert_eq!(looks.schedule, Schedule::At(vec![30, 60]));
        assert_eq!(looks.stopping, Stopping::GroupSequential(Spending::OBrienFleming));
    }

    #[test]
    fn what_cannot_be_judged_early_is_refused() {
        let cases = [
            ("looks = {}", CLAIM, "`at` is missing in [design.looks]"),
            ("looks = { at = [60], every = 3 }", CLAIM, "has both `at` and `every`"),
            ("looks = { at = [] }", CLAIM, "expected at least one number of blocks"),
            ("looks = { at = [40, 20, 60] }", CLAIM, "has 20 after 40"),
            ("looks = { at = [20, 20, 60] }", CLAIM, "has 20 after 20"),
            ("looks = { at = [20, 50] }", CLAIM, "the last look is after 50 blocks, but `samples` is 60"),
            ("looks = { at = [20, 90] }", CLAIM, "the last look is after 90 blocks"),
            ("looks = { at = [5, 60] }", CLAIM, "the first look is after 5 blocks, expected at least 10"),
            ("looks = { at = [0, 60] }", CLAIM, "whole number from 2"),
            ("looks = { every = 0 }", CLAIM, "a whole number from 1 to 60"),
            ("looks = { every = 61 }", CLAIM, "a whole number from 1 to 60"),
            ("looks = { every = 1 }", CLAIM, "60 looks, at most 20"),
            ("looks = { at = [20, 60], spending = \"pokok\" }", CLAIM, "did you mean `pocock`"),
            (
                "looks = { method = \"sign-e-process\", spending = \"pocock\" }",
                CLAIM,
                "which spends no alpha",
            ),
            ("looks = { at = [20, 60] }", "", "there is nothing to stop for"),
            ("order = \"sequential\"\nlooks = { at = [20, 60] }", CLAIM, "one arm is complete before"),
            (
                "order = \"abba\"\nlooks = { method = \"sign-e-process\" }",
                CLAIM,
                "the order within a block is random",
            ),
        ];
        for (looks, more, expected) in cases {
            let problems = parse(&text(60, looks, more), "x").unwrap_err();
            assert_eq!(problems.all().len(), 1, "{looks}: {problems}");
            assert!(problems.to_string().contains(expected), "{looks}: {problems}");
        }
        for (looks, test, expected) in [
            ("looks = { at = [20, 60] }", "bootstrap", "never below what early looks ask for"),
            ("looks = { method = \"sign-e-process\" }", "wilcoxon", "it is a test of its own"),
        ] {
            let more = format!("{CLAIM}[decision]\ntest = \"{test}\"\n");
            let problems = parse(&text(60, looks, &more), "x").unwrap_err().to_string();
            assert!(problems.contains(expected), "{problems}");
        }
    }
}
