use serde_json::Value;

/// The first place where a stored document says something else than the one computed now; `None` if there is none.
///
/// Numbers are compared by their shortest text, and so bit for bit: 0 and -0.0 differ. With `more`, what only the
/// computed one has is no difference, be it a member of an object or of a list: a later harness may say more.
pub(super) fn difference(stored: &Value, computed: &Value, more: bool) -> Option<String> {
    walk("", stored, computed, more)
}

fn walk(at: &str, stored: &Value, computed: &Value, more: bool) -> Option<String> {
    match (stored, computed) {
        (Value::Object(was), Value::Object(is)) => {
            let place = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
            let known = was.iter().find_map(|(key, was)| match is.get(key) {
                Some(is) => walk(&place(key), was, is, more),
                None => Some(format!("{} is stored, and nothing is computed for it", place(key))),
            });
            let new = || is.keys().find(|it| !more && !was.contains_key(*it));
            known.or_else(|| new().map(|key| format!("{} is computed, and not stored", place(key))))
        }
        (Value::Array(was), Value::Array(is)) if more && was.len() < is.len() => {
            let mut rest = is.iter();
            let missing = was.iter().position(|was| !rest.any(|is| walk("", was, is, more).is_none()));
            missing.map(|i| format!("{at}[{i}] is stored as {}, and not computed", cut(&was[i].to_string())))
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => was
            .iter()
            .zip(is)
            .enumerate()
            .find_map(|(i, (was, is))| walk(&format!("{at}[{i}]"), was, is, more)),
        _ => {
            let (was, is) = (stored.to_string(), computed.to_string());
            (was != is).then(|| format!("{at} is stored as {}, computed as {}", cut(&was), cut(&is)))
        }
    }
}

/// Not more of a text than a line of a message takes.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(70) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_difference_is_named() {
        let stored = json!({ "a": [1, { "b": 0.1 }], "c": null });
        assert_eq!(difference(&stored, &stored, false), None);
        let told = |computed: Value, more| difference(&stored, &computed, more).unwrap_or_default();
        let other = json!({ "a": [1, { "b": 0.10000000000000002 }], "c": null });
        assert_eq!(told(other, false), "a[1].b is stored as 0.1, computed as 0.10000000000000002");
        assert_eq!(
            told(json!({ "a": [1], "c": null }), false),
            "a is stored as [1,{\"b\":0.1}], computed as [1]"
        );
        assert_eq!(
            told(json!({ "a": [1, { "b": 0.1 }] }), true),
            "c is stored, and nothing is computed for it"
        );
        let later = json!({ "a": [1, { "b": 0.1 }], "c": null, "d": 1 });
        assert_eq!(told(later.clone(), false), "d is computed, and not stored");
        assert_eq!(told(later, true), "");
        let longer = json!({ "a": [0, 1, { "b": 0.1, "x": 2 }], "c": null });
        assert_eq!(told(longer, true), "");
        let other = json!({ "a": [0, 1, { "b": 0.2 }], "c": null });
        assert_eq!(told(other, true), "a[1] is stored as {\"b\":0.1}, and not computed");
        assert!(difference(&json!(0.0), &json!(-0.0), false).is_some());
    }
}
