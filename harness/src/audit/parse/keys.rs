//! The keys of every table. `schemas/audit.schema.json` lists the same, by test.

pub(super) const ROOT: &[&str] = &["format", "source", "quantities", "claims"];
pub(super) const SOURCE: &[&str] = &["title", "date", "citation"];
pub(super) const QUANTITY: &[&str] =
    &["mean", "sd", "se", "ci95", "plus_minus", "n", "unit", "better", "decimals", "exact"];

/// Keys of a claim of any kind.
pub(super) const CLAIM: &[&str] = &[
    "id",
    "kind",
    "where",
    "quote",
    "claimed",
    "unit",
    "note",
    "tolerance",
    "rounding",
    "decimals",
    "exact",
];
/// Keys of a claim that only some kinds have.
pub(super) const OPERANDS: &[&str] = &[
    "treatment",
    "control",
    "none",
    "first",
    "second",
    "both",
    "of",
    "against",
    "rows",
    "at",
    "claims",
    "by",
    "expr",
    "d",
    "p",
    "margin",
    "alpha",
    "level",
    "reversed",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::kind;
    use serde_json::Value;

    fn sorted<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_schema_has_the_keys_and_kinds_of_the_parser() {
        let schema: Value =
            serde_json::from_str(include_str!("../../../../schemas/audit.schema.json")).unwrap();
        let claim: Vec<&str> = CLAIM.iter().chain(OPERANDS).copied().collect();
        for (pointer, keys) in [
            ("", ROOT),
            ("/$defs/source", SOURCE),
            ("/$defs/quantity", QUANTITY),
            ("/$defs/claim", claim.as_slice()),
        ] {
            let table = schema.pointer(pointer).unwrap();
            let properties = table["properties"].as_object().unwrap();
            assert_eq!(
                sorted(properties.keys().map(String::as_str)),
                sorted(keys.iter().copied()),
                "{pointer}"
            );
            assert_eq!(table["additionalProperties"], false, "{pointer}");
        }
        let kinds = schema.pointer("/$defs/claim/properties/kind/enum").unwrap().as_array().unwrap();
        let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).collect();
        assert_eq!(kinds, kind::ALL.iter().map(|it| it.id).collect::<Vec<_>>());
    }

    #[test]
    fn every_key_of_a_kind_is_known() {
        for kind in kind::ALL {
            for key in [kind.one, kind.many, kind.needed, kind.optional].concat() {
                assert!(OPERANDS.contains(&key), "{}: {key}", kind.id);
            }
        }
    }
}
