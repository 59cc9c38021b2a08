use super::*;
use std::collections::HashSet;

fn plan(order: Order, cells: usize, arms: usize) -> Plan {
    Plan { cells: vec![Cell::default(); cells], arms, warmups: 2, samples: 5, order, seed: 7 }
}

/// Every (cell, arm, warm-up, block) that the plan measures.
fn places(plan: &Plan) -> Vec<(usize, usize, bool, u32)> {
    (0..plan.len())
        .map(|index| plan.step(index))
        .flat_map(|step| step.arms.into_iter().map(move |arm| (step.cell, arm, step.warmup, step.block)))
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
    let plan = Plan { samples: 3000, ..plan(Order::RandomBlocks, 1, 3) };
    let mut first = [0u32; 3];
    for index in 0..plan.len() {
        first[plan.step(index).arms[0]] += 1;
    }
    // 1,000 expected with a standard deviation of 26.
    assert!(first.iter().all(|it| (870..1130).contains(it)), "{first:?}");
}

#[test]
fn abba_reverses_every_second_block() {
    let plan = plan(Order::Abba, 1, 3);
    assert_eq!(plan.step(0).arms, [0, 1, 2]);
    assert_eq!(plan.step(1).arms, [2, 1, 0]);
    assert_eq!(plan.step(2).arms, [0, 1, 2]);
}
