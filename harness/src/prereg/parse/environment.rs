use crate::prereg::table::{Item, Table};
use crate::prereg::{BlockRule, Environment, Pin, keys};
use crate::vocab::Then;

/// Processors have no higher number here: as many as the kernel knows at most.
const LAST_CORE: i64 = 8_191;

pub(super) fn read(root: &Table<'_>) -> Option<Environment> {
    let table = root.section_or_empty("environment", Some(keys::ENVIRONMENT))?;
    let max_load = table.maybe("max_load", |it| load(&it));
    let max_steal = table.maybe("max_steal", |it| share(&it));
    let max_pressure = table.maybe("max_pressure", |it| share(&it));
    let governor = table.maybe("governor", |it| it.filled(50));
    let pin = table.maybe("pin", |it| pin(&it));
    let blocks = table.maybe("blocks", |it| blocks(&it));
    Some(Environment {
        max_load: max_load?,
        max_steal: max_steal?,
        max_pressure: max_pressure?,
        governor: governor?,
        pin: pin?.flatten(),
        blocks: blocks?,
    })
}

fn load(item: &Item<'_>) -> Option<f64> {
    within(item, "a number above 0", |it| it > 0.0)
}

fn share(item: &Item<'_>) -> Option<f64> {
    within(item, "a share from 0 to 1", |it| (0.0..=1.0).contains(&it))
}

/// `false` is the same as nothing.
fn pin(item: &Item<'_>) -> Option<Option<Pin>> {
    if !item.is_list() {
        let hint = "`true` takes one processor, `[2, 3]` these";
        return match item.flag() {
            Some(pin) => Some(pin.then_some(Pin::One)),
            None => {
                item.problem("`pin` is neither true, false nor a list of processors", Some(hint.to_owned()))
            }
        };
    }
    let cores: Vec<Option<i64>> = item.list(1_024)?.iter().map(|it| it.whole(0..=LAST_CORE)).collect();
    let cores: Vec<i64> = cores.into_iter().collect::<Option<_>>()?;
    if cores.is_empty() || cores.windows(2).any(|it| it[0] >= it[1]) {
        return item.wrong("numbers of processors, ascending");
    }
    Some(Some(Pin::Cores(cores.into_iter().filter_map(|it| u32::try_from(it).ok()).collect())))
}

fn blocks(item: &Item<'_>) -> Option<BlockRule> {
    let table = item.table("in [environment.blocks]".to_owned(), Some(keys::BLOCKS))?;
    let max_load = table.maybe("max_load", |it| load(&it));
    let max_steal = table.maybe("max_steal", |it| share(&it));
    let max_pressure = table.maybe("max_pressure", |it| share(&it));
    let then = table.or("then", Then::Remeasure, |it| it.word());
    let rule =
        BlockRule { max_load: max_load?, max_steal: max_steal?, max_pressure: max_pressure?, then: then? };
    if [rule.max_load, rule.max_steal, rule.max_pressure].iter().all(Option::is_none) {
        return item.problem(
            "[environment.blocks] has no limit, expected `max_steal`, `max_pressure` or `max_load`",
            None,
        );
    }
    Some(rule)
}

fn within(item: &Item<'_>, expected: &str, accepts: impl Fn(f64) -> bool) -> Option<f64> {
    let number = item.number()?;
    if accepts(number) { Some(number) } else { item.wrong(expected) }
}

#[cfg(test)]
mod tests {
    use crate::prereg::{Prereg, parse, parse_canonical};

    const TEXT: &str = r#"
id = "x"
title = "x"
ledger = "x"
[worker]
command = ["x"]
system = "x"
[arms.a]
role = "control"
[arms.b]
role = "treatment"
params.p = 1
[design]
samples = 3
[metrics.m]
unit = "ms"
better = "lower"
[[guards]]
metric = "m"
margin = 0.1
"#;

    fn with(environment: &str) -> Result<Prereg, String> {
        parse(&format!("{TEXT}\n[environment]\n{environment}"), "x.toml").map_err(|it| it.to_string())
    }

    #[test]
    fn what_is_not_asked_for_is_not_in_the_canonical_text() {
        let plain = parse(TEXT, "x.toml").unwrap();
        assert!(plain.canonical().ends_with("\n[environment]\n"), "{}", plain.canonical());
        assert_eq!(with("pin = false").unwrap().digest(), plain.digest());
    }

    #[test]
    fn every_key_survives_the_canonical_text() {
        let all = "max_load = 1.5\nmax_steal = 0.02\nmax_pressure = 0.1\ngovernor = \"performance\"\npin = [1, 3]\n\
                   [environment.blocks]\nmax_steal = 0.02\nthen = \"exclude\"";
        for text in [all, "pin = true", "[environment.blocks]\nmax_load = 3\nmax_pressure = 0.5"] {
            let prereg = with(text).unwrap();
            let again = parse_canonical(&prereg.canonical()).unwrap();
            assert_eq!(again, prereg, "{text}");
            assert_eq!(again.digest(), prereg.digest());
        }
    }

    #[test]
    fn impossible_rules_are_refused() {
        for (text, expected) in [
            ("max_steal = 2", "a share from 0 to 1"),
            ("pin = 3", "neither true, false nor a list"),
            ("pin = [1, 1]", "ascending"),
            ("pin = []", "ascending"),
            ("pin = [-1]", "-1"),
            ("[environment.blocks]\nthen = \"exclude\"", "has no limit"),
            ("[environment.blocks]\nmax_steal = 0.1\nthen = \"drop\"", "drop"),
        ] {
            let problems = with(text).unwrap_err();
            assert!(problems.contains(expected), "{text}: {problems}");
        }
    }
}
