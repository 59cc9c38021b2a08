//! No number is changed on its way through the store.

use crate::support::*;
use harness::store::StoreError;

#[test]
fn every_bit_of_a_double_comes_back() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    let mut values = vec![
        0.0,
        -0.0,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        -f64::from_bits(0x000f_ffff_ffff_ffff),
        f64::MAX,
        f64::MIN,
        0.1,
        1.0 / 3.0,
        1e16,
    ];
    // A spread over all exponents, from a fixed sequence.
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    while values.len() < 5_000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = f64::from_bits(bits);
        if value.is_finite() {
            values.push(value);
        }
    }
    store.append_block(run.id, &[set("eager", 0, &values)], &[]).unwrap();
    let back = &store.run(run.id).unwrap().unwrap().sets[0].values;
    assert!(back.iter().map(|it| it.to_bits()).eq(values.iter().map(|it| it.to_bits())));
}

/// 70,000 samples: more than a statement has parameters, and than a row has values.
#[test]
fn seventy_thousand_samples_are_all_stored_in_order() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    let values: Vec<f64> = (0..70_000_u32).map(|i| f64::from((i * 7919) % 10_007) / 8.0).collect();
    let began = std::time::Instant::now();
    store.append_block(run.id, &[set("eager", 0, &values)], &[]).unwrap();
    assert!(began.elapsed().as_secs() < 10);
    let sets = store.run(run.id).unwrap().unwrap().sets;
    assert_eq!(sets, [set("eager", 0, &values)]);

    let row = database
        .client()
        .query_one(
            "select count(*), sum(value), min(value), max(value), sum(block * value), count(distinct block) \
             from harness.samples where run_id = $1",
            &[&run.id],
        )
        .unwrap();
    assert_eq!(row.get::<_, i64>(0), 70_000);
    assert_eq!(row.get::<_, f64>(1), 43_777_371.375);
    assert_eq!((row.get::<_, f64>(2), row.get::<_, f64>(3)), (0.0, 1250.75));
    assert_eq!(row.get::<_, f64>(4), 1_532_142_783_268.0);
    assert_eq!(row.get::<_, i64>(5), 70_000);
    assert_eq!(sets[0].values[..5], [0.0, 989.875, 728.875, 467.875, 206.875]);
    assert_eq!(sets[0].values[69_995..], [334.375, 73.375, 1063.25, 802.25, 541.25]);
}

#[test]
fn a_flipped_bit_is_found() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    store.append_block(run.id, &[set("eager", 0, &[1.0, 2.0])], &[]).unwrap();
    let mut client = database.client();
    client.batch_execute("alter table harness.sample_sets disable trigger append_only").unwrap();
    client.execute("update harness.sample_sets set \"values\" = '{1, 2.0000000000000004}'", &[]).unwrap();
    let error = store.run(run.id).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }));
    assert!(
        error.to_string().contains("metric open_time, cell `terms=1000`, arm eager from block 0"),
        "{error}"
    );
}

#[test]
fn the_digest_can_be_recomputed_in_sql() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    store.append_block(run.id, &[set("eager", 0, &[1.5, -0.0, 3e-310])], &[]).unwrap();
    let holds: bool = database
        .client()
        .query_one(
            "select sha256 = sha256((select string_agg(float8send(v), ''::bytea order by ord) \
             from unnest(\"values\") with ordinality as u(v, ord))) from harness.sample_sets",
            &[],
        )
        .unwrap()
        .get(0);
    assert!(holds);
}
