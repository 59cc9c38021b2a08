use super::*;
use crate::vocab::{Clock, Mode, Process};
use proptest::prelude::*;
use std::collections::HashSet;

fn plan(order: Order, cells: usize, arms: usize) -> Plan {
    let design = Design {
        warmups: 2,
        samples: 5,
        order,
        mode: Mode::Turns,
        process: Process::PerArm,
        clock: Clock::Wall,
        seed: 7,
        slices: 1,
        processes: 1,
        builds: 1,
        padding: 0,
        looks: None,
    };
    Plan { cells: vec![Cell::default(); cells], arms, design, seed: 7 }
}

fn with(plan: Plan, edit: impl FnOnce(&mut Design)) -> Plan {
    let mut plan = plan;
    edit(&mut plan.design);
    plan
}

/// Every (cell, arm, warm-up, block) that the plan measures.
fn places(plan: &Plan) -> Vec<(usize, usize, bool, u32)> {
    (0..plan.len())
        .map(|index| plan.step(index))
        .flat_map(|step| {
            step.arms().iter().map(|&arm| (step.cell, arm, step.warmup, step.block)).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn every_order_measures_every_place_once() {
    for order in Order::ALL {
        let plan = plan(*order, 3, 4);
        let places = places(&plan);
        assert_eq!(places.len(), 3 * 4 * 7, "{order}");
        assert_eq!(places.len() as u64, plan.total());
        assert_eq!(places.iter().collect::<HashSet<_>>().len(), places.len(), "{order}");
        let ends: Vec<_> = (0..plan.len()).filter(|it| plan.is_last_of_cell(*it)).collect();
        assert_eq!(ends.len(), 3);
        for end in ends {
            let next = (end + 1 < plan.len()).then(|| plan.step(end + 1).cell);
            assert_ne!(next, Some(plan.step(end).cell), "{order}");
        }
    }
}

#[test]
fn warm_ups_come_first_in_every_cell() {
    for order in [Order::RandomBlocks, Order::Abba] {
        let plan = plan(order, 2, 2);
        let first: Vec<_> = (0..3).map(|it| plan.step(it)).map(|it| (it.warmup, it.block)).collect();
        assert_eq!(first, [(true, 0), (true, 1), (false, 0)]);
    }
}

#[test]
fn random_blocks_depend_on_the_seed_and_nothing_else() {
    let first = places(&plan(Order::RandomBlocks, 3, 4));
    assert_eq!(first, places(&plan(Order::RandomBlocks, 3, 4)));
    let other = Plan { seed: 8, ..plan(Order::RandomBlocks, 3, 4) };
    assert_ne!(first, places(&other));
}

#[test]
fn random_blocks_put_each_arm_first_about_equally_often() {
    let plan = with(plan(Order::RandomBlocks, 1, 3), |it| it.samples = 3000);
    let mut first = [0u32; 3];
    for index in 0..plan.len() {
        first[plan.step(index).arms()[0]] += 1;
    }
    // 1,000 expected with a standard deviation of 26.
    assert!(first.iter().all(|it| (870..1130).contains(it)), "{first:?}");
}

#[test]
fn abba_reverses_every_second_block() {
    let plan = plan(Order::Abba, 1, 3);
    assert_eq!(plan.step(0).arms(), [0, 1, 2]);
    assert_eq!(plan.step(1).arms(), [2, 1, 0]);
    assert_eq!(plan.step(2).arms(), [0, 1, 2]);
}

#[test]
fn every_process_has_its_own_warm_ups() {
    let plan = with(plan(Order::RandomBlocks, 1, 2), |it| (it.samples, it.processes) = (6, 3));
    let steps: Vec<_> = (0..plan.len()).map(|it| plan.step(it)).map(|it| (it.warmup, it.block)).collect();
    let expected = [
        [(true, 0), (true, 1), (false, 0), (false, 1)],
        [(true, 2), (true, 3), (false, 2), (false, 3)],
        [(true, 4), (true, 5), (false, 4), (false, 5)],
    ];
    assert_eq!(steps, expected.concat());
    let of = |it: &(bool, u32)| plan.design.process_of(it.1, it.0);
    assert_eq!(steps.iter().map(of).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
}

#[test]
fn the_first_slices_stand_in_the_order_of_whole_samples() {
    let whole = plan(Order::RandomBlocks, 2, 4);
    let sliced = with(whole.clone(), |it| it.slices = 3);
    for index in 0..whole.len() {
        assert_eq!(whole.step(index).arms(), sliced.step(index).arms());
    }
}

#[test]
fn slices_of_an_arm_are_first_about_equally_often_within_a_block() {
    let plan = with(plan(Order::RandomBlocks, 1, 2), |it| it.slices = 1000);
    let first = plan.step(3).rounds.iter().filter(|it| it[0] == 0).count();
    // 500 expected with a standard deviation of 16.
    assert!((420..580).contains(&first), "{first}");
}

proptest! {
    #[test]
    fn every_design_measures_every_slice_of_every_sample_once(
        order in proptest::sample::select(Order::ALL),
        (cells, arms, warmups) in (1..3_usize, 1..5_usize, 0..4_u32),
        (processes, each, slices) in (1..4_u32, 1..4_u32, 1..5_u32),
        seed in any::<u64>(),
    ) {
        let mut plan = with(plan(order, cells, arms), |it| {
            *it = Design { warmups, samples: processes * each, processes, slices, ..it.clone() };
        });
        plan.seed = seed;
        let mut seen = HashSet::new();
        for step in (0..plan.len()).map(|it| plan.step(it)) {
            prop_assert_eq!(step.rounds.len(), slices as usize);
            for (slice, round) in step.rounds.iter().enumerate() {
                for &arm in round {
                    prop_assert!(seen.insert((step.cell, arm, step.warmup, step.block, slice)));
                }
                if order != Order::Sequential {
                    prop_assert_eq!(round.iter().collect::<HashSet<_>>().len(), arms);
                }
            }
        }
        prop_assert_eq!(seen.len() as u64, plan.total() * u64::from(slices));
        let blocks = |warmup| seen.iter().filter(|it| it.2 == warmup).map(|it| it.3).max();
        prop_assert_eq!(blocks(false), Some(processes * each - 1));
        prop_assert_eq!(blocks(true), (processes * warmups).checked_sub(1));
    }
}

proptest! {
    /// In whatever order: an arm has each side in one block of every two, of warm-ups and of samples.
    #[test]
    fn the_sides_of_a_duet_are_balanced(
        order in proptest::sample::select(&[Order::RandomBlocks, Order::Abba][..]),
        (warmups, pairs, slices) in (0..5_u32, 1..20_u32, 1..4_u32),
        seed in any::<u64>(),
    ) {
        let mut plan = with(plan(order, 2, 2), |it| {
            *it = Design { warmups, samples: 2 * pairs, slices, mode: Mode::Duet, ..it.clone() };
        });
        plan.seed = seed;
        let steps: Vec<_> = (0..plan.len()).map(|it| plan.step(it)).collect();
        for cell in 0..2 {
            let blocks = steps.iter().filter(|it| it.cell == cell && !it.warmup);
            let first: Vec<usize> = blocks.map(|it| it.arms()[0]).collect();
            prop_assert!(first.chunks(2).all(|it| it[0] != it[1]), "{:?}", first);
        }
        for step in &steps {
            // Within a block nobody moves.
            prop_assert!(step.rounds.iter().all(|it| it == &step.rounds[0]));
        }
    }
}

#[test]
fn the_first_side_of_a_duet_is_drawn() {
    let plan = with(plan(Order::RandomBlocks, 1, 2), |it| (it.samples, it.mode) = (2000, Mode::Duet));
    let first = (0..plan.len()).map(|it| plan.step(it));
    let first = first.filter(|it| !it.warmup && it.block % 2 == 0 && it.arms()[0] == 0).count();
    // 500 expected with a standard deviation of 16.
    assert!((420..580).contains(&first), "{first}");
}

#[test]
fn every_process_has_a_padding_of_its_own() {
    let plan =
        with(plan(Order::RandomBlocks, 2, 2), |it| (it.samples, it.processes, it.padding) = (400, 200, 4095));
    let of = |plan: &Plan, cell| (0..200).map(|it| plan.padding(cell, it)).collect::<Vec<_>>();
    let first = of(&plan, 0);
    assert!(first.iter().all(|it| *it <= 4095));
    // Expected 2,048 with a standard deviation of 84.
    let mean = first.iter().sum::<u32>() / 200;
    assert!((1700..2400).contains(&mean), "{mean}");
    assert_eq!(first, of(&plan, 0));
    assert_ne!(first, of(&plan, 1));
    assert_ne!(first, of(&Plan { seed: 8, ..plan.clone() }, 0));
    assert!(of(&with(plan, |it| it.padding = 0), 0).iter().all(|it| *it == 0));
}

#[test]
fn each_build_has_a_salt_of_its_own_that_follows_from_the_seed() {
    let plan = plan(Order::RandomBlocks, 1, 2);
    assert!(salts(&plan.design).is_empty());
    let builds = Design { builds: 100, processes: 100, ..plan.design };
    let all = salts(&builds);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 100);
    assert!(all.iter().all(|it| (1..1 << 31).contains(it)));
    assert_eq!(salts(&builds), all);
    assert_ne!(salts(&Design { seed: 8, ..builds }), all);
}
