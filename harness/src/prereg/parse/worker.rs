use crate::prereg::grammar::Grammar;
use crate::prereg::problem::quote;
use crate::prereg::table::{Item, Table};
use crate::prereg::{Launch, Package, Worker, keys};
use std::time::Duration;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn read(root: &Table<'_>) -> Option<Worker> {
    let table = root.section("worker", keys::WORKER)?;
    let features = table.or("features", Vec::new(), |it| features(&it));
    let profile = table.maybe("profile", |it| it.name(Grammar::Package));
    let launch = match (table.get("package"), table.get("command")) {
        (Some(package), None) => {
            let name = package.name(Grammar::Package);
            name.zip(features.zip(profile))
                .map(|(name, (features, profile))| Launch::Package(Package { name, features, profile }))
        }
        (None, Some(command)) => {
            for key in ["features", "profile"].into_iter().filter(|it| table.get(it).is_some()) {
                table.report.help(
                    table.at_key(key),
                    format!("`{key}` is of a package that cargo builds, and [worker] has a `command`"),
                    Some(format!("leave out `{key}`")),
                );
            }
            command.command().map(Launch::Command)
        }
        (Some(_), Some(command)) => command.problem(
            "[worker] has a `package` and a `command`, expected one of them",
            Some("leave out `package` to run the command as it is".to_owned()),
        ),
        (None, None) => {
            table.report.help(
                table.at,
                "[worker] has neither `package` nor `command`, expected one of them",
                Some(
                    "`package = \"name\"` has cargo build it, `command = [\"program\"]` is run as it is"
                        .into(),
                ),
            );
            None
        }
    };
    let system = table.need("system").and_then(|it| it.filled(100));
    let timeout = table.or("timeout", DEFAULT_TIMEOUT, |it| duration(&it));
    Some(Worker { launch: launch?, system: system?, timeout: timeout? })
}

/// Names of cargo features, sorted: their order means nothing to cargo.
fn features(item: &Item<'_>) -> Option<Vec<String>> {
    let names: Vec<_> = item.list(100)?.iter().map(|it| it.name(Grammar::Package)).collect();
    let mut names: Vec<String> = names.into_iter().collect::<Option<_>>()?;
    names.sort_unstable();
    match names.windows(2).find(|it| it[0] == it[1]) {
        Some(twice) => item.problem(format!("{} names {} twice", item.what, quote(&twice[0])), None),
        None => Some(names),
    }
}

/// `120s`, `1500ms`, `2min`.
pub(super) fn duration(item: &Item<'_>) -> Option<Duration> {
    let expected = "a whole number with `ms`, `s` or `min`, from `1ms` to `1440min`, such as \"120s\"";
    if item.is_number() {
        return item.wrong_help(expected, Some("write it as text with its unit: \"120s\"".to_owned()));
    }
    let text = item.text(100)?;
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let millis_of_one: u64 = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        _ => {
            let hint = (unit.is_empty() && !number.is_empty())
                .then(|| format!("did you mean {}?", quote(&format!("{number}s"))));
            return item.wrong_help(expected, hint);
        }
    };
    let millis = number.parse::<u64>().ok().and_then(|it| it.checked_mul(millis_of_one));
    match millis.map(Duration::from_millis) {
        Some(it) if it > Duration::ZERO && it <= LONGEST_TIMEOUT => Some(it),
        _ => item.wrong(expected),
    }
}
