//! Case 28: positions in texts that are easy to get wrong.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use engine::{Position, SuffixIndex};
use serde_json::Value;

fn offsets(expected: &Value) -> Vec<u32> {
    expected.as_array().unwrap().iter().map(|at| at.as_u64().unwrap() as u32).collect()
}

fn sorted(positions: &[Position]) -> Vec<u32> {
    let mut offsets: Vec<u32> = positions.iter().map(|at| at.offset).collect();
    offsets.sort_unstable();
    offsets
}

#[test]
fn positions_are_those_of_the_case() {
    let file = std::fs::read_to_string("tests/cases/28_suffix_positions.json").unwrap();
    let cases: Value = serde_json::from_str(&file).unwrap();
    let mut asked = 0;
    for case in cases["cases"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let chars = SuffixIndex::<char>::from_texts([text]).unwrap();
        let bytes = SuffixIndex::<u8>::from_texts([text.as_bytes()]).unwrap();
        let distinct = |key: &str| case[key].as_u64().unwrap();
        assert_eq!(
            chars.snapshot().distinct_substrings().unwrap(),
            distinct("distinct_nonempty_substrings_chars")
        );
        assert_eq!(
            bytes.snapshot().distinct_substrings().unwrap(),
            distinct("distinct_nonempty_substrings_bytes")
        );
        for query in case["queries"].as_array().unwrap() {
            let pattern = query["pattern"].as_str().unwrap();
            let expected = offsets(&query["char_positions"]);
            assert_eq!(sorted(&chars.positions(pattern)), expected, "{text:?} {pattern:?}");
            assert_eq!(chars.count(pattern), query["count"].as_u64().unwrap_or(expected.len() as u64));
            let mut in_bytes = Vec::new();
            chars.snapshot().byte_positions_into(pattern, &mut in_bytes);
            assert_eq!(sorted(&in_bytes), offsets(&query["byte_positions"]), "{text:?} {pattern:?}");
            // Bytes also have borders within chars, which only an empty pattern can tell.
            if !pattern.is_empty() {
                assert_eq!(sorted(&bytes.positions(pattern.as_bytes())), sorted(&in_bytes));
            }
            asked += 1;
        }
    }
    assert!(asked > 30, "{asked}");
}
