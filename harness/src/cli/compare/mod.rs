mod change;
mod pair;
mod side;

use super::args::{Compare as Args, Format, Global};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::session;
use super::table::Table;
use super::ui::{Tone, Ui};
use crate::decide::gain_text;
use crate::render::gain_95;
use crate::stats::PValue;
use crate::stats::panel::Says;
use crate::vocab::{Digest, Margin, RunState, minus, significant};
use change::{Change, changes};
use pair::{Pair, pairs};
use serde_json::{Value, json};
use side::Side;

/// What stands on every form of the result.
const LABEL: &str = "exploratory: no verdict";

pub(super) fn run(args: &Args, global: &Global, ui: &mut Ui) -> Result<Exit, Failure> {
    // Files are named from where the user is, before the project is entered.
    let files = [Side::of_file(&args.baseline, args)?, Side::of_file(&args.candidate, args)?];
    let [a, b] = match files {
        [Some(a), Some(b)] => [a, b],
        [a, b] => {
            let project = Project::find(global.project.as_deref())?;
            let mut store = session::open(global, &project, ui)?;
            let mut stored = |name: &str| Side::of_store(name, &mut store, &project);
            let a = a.map_or_else(|| stored(&args.baseline), Ok)?;
            let b = b.map_or_else(|| stored(&args.candidate), Ok)?;
            store.close()?;
            [a, b]
        }
    };
    let pairs = pairs(&a, &b, args)?;
    let changes = changes(&a, &b);
    let warnings = warnings(&a, &b, &pairs);
    for warning in &warnings {
        ui.warning(warning);
    }
    match ui.format {
        Format::Json => ui.result(&format!("{:#}", to_json(&a, &b, &pairs, &changes, &warnings)))?,
        Format::Csv => ui.result(&numbers(&pairs, &changes).show(Format::Csv))?,
        format => {
            let label =
                if format == Format::Text { ui.tone(Tone::Open, LABEL) } else { format!("**{LABEL}**") };
            ui.result(&format!("A = {}, B = {}; {label}\n", a.name, b.name))?;
            ui.result(&table(&pairs).show(format))?;
            if !changes.is_empty() {
                ui.result(&format!("\n{}", change_table(&changes).show(format)))?;
            }
            ui.result(&format!("\n{}", explanation(&pairs, &changes)))?;
        }
    }
    Ok(Exit::Done)
}

/// Why differences may be those of something else.
fn warnings(a: &Side, b: &Side, pairs: &[Pair]) -> Vec<String> {
    let mut warnings = Vec::new();
    if let (Some((_, of_a)), Some((_, of_b))) = (&a.run, &b.run) {
        let (run_a, run_b) = (&of_a.data.run, &of_b.data.run);
        if run_a.host != run_b.host {
            warnings.push(format!(
                "measured on different hosts, {} and {}: a difference may be theirs",
                run_a.host, run_b.host
            ));
        }
        if run_a.registration != run_b.registration {
            warnings.push(format!(
                "measured under different registrations, {} version {} and {} version {}",
                run_a.experiment, run_a.version, run_b.experiment, run_b.version
            ));
        }
        for pair in pairs {
            let binary = |side: &Side, arm: &str| -> Option<Digest> {
                side.run.as_ref()?.1.data.arms.iter().find(|it| it.arm == arm)?.binary
            };
            let [arm_a, arm_b] = &pair.arms;
            let text = match (binary(a, arm_a), binary(b, arm_b)) {
                (Some(x), Some(y)) if x != y && arm_a == arm_b => {
                    format!(
                        "arm `{arm_a}` was measured with different binaries, {} and {}",
                        x.short(),
                        y.short()
                    )
                }
                (Some(x), Some(y)) if x != y => {
                    format!(
                        "arms `{arm_a}` and `{arm_b}` were measured with different binaries, {} and {}",
                        x.short(),
                        y.short()
                    )
                }
                _ => continue,
            };
            if !warnings.contains(&text) {
                warnings.push(text);
            }
        }
    }
    for (letter, side) in [("A", a), ("B", b)] {
        if let Some((_, run)) = side.run.as_ref().filter(|(_, it)| it.state != RunState::Done) {
            warnings.push(format!("{letter} is not complete: it is {}", run.state.as_str()));
        }
    }
    for pair in pairs.iter().filter(|it| it.units[0] != it.units[1]) {
        let text = format!(
            "`{}` is in {} in A and in {} in B: converted",
            pair.comparison.metric, pair.units[0], pair.units[1]
        );
        if !warnings.contains(&text) {
            warnings.push(text);
        }
    }
    warnings
}

fn explanation(pairs: &[Pair], changes: &[Change]) -> String {
    let mut lines = vec![
        "gain: how much better B is than A, as a share of A's mean, with its 95 % interval".to_owned(),
        "panel: what Welch's test says at 5 %, and how many of the methods that have an answer say the same"
            .to_owned(),
    ];
    if !changes.is_empty() {
        lines.push(
            "change: gain in B minus gain in A, in percentage points, with its 95 % interval".to_owned(),
        );
    }
    let looks = match pairs.len() {
        1 => "1 comparison was".to_owned(),
        n => format!("{n} comparisons were"),
    };
    lines.push(format!("{looks} looked at; no p-value is corrected for that"));
    lines.join("\n")
}

fn arms(pair: &Pair) -> String {
    match &pair.arms {
        [a, b] if a == b => a.clone(),
        [a, b] => {
            let shown = |it: &str| if it.is_empty() { "(none)".to_owned() } else { it.to_owned() };
            format!("{} → {}", shown(a), shown(b))
        }
    }
}

fn table(pairs: &[Pair]) -> Table {
    let metrics = pairs.iter().any(|it| !it.comparison.metric.is_empty());
    let cells = pairs.iter().any(|it| !it.comparison.cell.is_empty());
    let named = pairs.iter().any(|it| it.arms.iter().any(|it| !it.is_empty()));
    let mut columns = Vec::new();
    columns.extend(metrics.then_some("metric"));
    columns.extend(cells.then_some("cell"));
    columns.extend(named.then_some("arm"));
    columns.extend([
        "n",
        "mean A",
        "mean B",
        "gain [95 %]",
        "p Welch",
        "p Mann-Whitney",
        "d",
        "delta",
        "panel",
    ]);
    let mut table = Table::new(columns);
    for pair in pairs {
        let it = &pair.comparison;
        let mut row = Vec::new();
        row.extend(metrics.then(|| json!(it.metric)));
        row.extend(cells.then(|| json!(it.cell)));
        row.extend(named.then(|| json!(arms(pair))));
        row.push(json!(match pair.n {
            [a, b] if a == b => a.to_string(),
            [a, b] => format!("{a}, {b}"),
        }));
        match &it.statistics {
            Err(undefined) => {
                row.extend([Value::Null, Value::Null, json!(undefined.to_string())]);
                row.extend(std::iter::repeat_n(Value::Null, 5));
            }
            Ok(statistics) => {
                let number = |it: f64| minus(significant(it, 3));
                let constant = || "undefined".to_owned();
                row.extend([
                    json!(it.unit.show(statistics.control.mean())),
                    json!(it.unit.show(statistics.treatment.mean())),
                    json!(gain(pair)),
                    json!(
                        statistics.welch.test.map_or_else(constant, |it| minus(it.p.two_sided.to_string()))
                    ),
                    json!(minus(statistics.mann_whitney.p.two_sided.to_string())),
                    json!(statistics.cohens_d().map_or_else(|_| constant(), number)),
                    json!(number(statistics.delta.delta)),
                    json!(pair.agreement().map_or_else(String::new, |(says, agree, asked)| {
                        format!("{}: {agree} of {asked} agree", pair.word(says))
                    })),
                ]);
            }
        }
        table.row(row);
    }
    table
}

/// The relative gain, or the difference where there is no share of zero.
fn gain(pair: &Pair) -> String {
    let it = &pair.comparison;
    match (it.relative_gain(0.95), it.absolute_gain(0.95)) {
        (Err(_), Ok(absolute)) => {
            format!("no share of A's mean; {}", gain_text(&absolute, Margin::Absolute(0.0), it.unit))
        }
        _ => gain_95(it),
    }
}

fn change_table(changes: &[Change]) -> Table {
    let cells = changes.iter().any(|it| !it.a.cell.is_empty());
    let mut columns = vec!["metric"];
    columns.extend(cells.then_some("cell"));
    columns.extend(["treatment", "control", "gain in A", "gain in B", "change"]);
    let mut table = Table::new(columns);
    for change in changes {
        let mut row = vec![json!(change.a.metric)];
        row.extend(cells.then(|| json!(change.a.cell)));
        row.extend([json!(change.a.treatment), json!(change.a.control)]);
        row.extend([json!(gain_95(&change.a)), json!(gain_95(&change.b))]);
        // Points of percent are shown like percents.
        let text = |it| gain_text(it, Margin::Relative(0.0), change.a.unit).replace(" %", " points");
        row.push(json!(change.gain.as_ref().map_or_else(|| "undefined".to_owned(), text)));
        table.row(row);
    }
    table
}

const COLUMNS: [&str; 22] = [
    "kind",
    "metric",
    "cell",
    "arm_a",
    "arm_b",
    "unit",
    "better",
    "n_a",
    "n_b",
    "mean_a",
    "mean_b",
    "gain",
    "gain_low",
    "gain_high",
    "t",
    "df",
    "p_welch",
    "p_mann_whitney",
    "d",
    "delta",
    "panel_agree",
    "panel_asked",
];

/// A row for each comparison and each change, as numbers; the last column says what they are worth.
fn numbers(pairs: &[Pair], changes: &[Change]) -> Table {
    let mut table = Table::new(COLUMNS.into_iter().chain(["label"]));
    let rows = pairs.iter().map(pair_json).chain(changes.iter().map(change_json));
    for row in rows {
        let values = COLUMNS.iter().map(|it| row.get(it).cloned().unwrap_or_default());
        table.row(values.chain([json!(LABEL)]).collect::<Vec<_>>());
    }
    table
}

fn pair_json(pair: &Pair) -> Value {
    let it = &pair.comparison;
    let mut object = json!({
        "kind": "comparison", "metric": it.metric, "cell": it.cell, "arm_a": pair.arms[0], "arm_b": pair.arms[1],
        "unit": it.unit.name(), "better": it.better.as_str(), "n_a": pair.n[0], "n_b": pair.n[1],
    });
    match &it.statistics {
        Err(undefined) => object["undefined"] = json!(undefined.0),
        Ok(statistics) => {
            let gain = it.relative_gain(0.95);
            let absolute = it.absolute_gain(0.95).ok();
            let test = statistics.welch.test;
            let ranks = &statistics.mann_whitney;
            let rest = json!({
                "mean_a": statistics.control.mean(), "mean_b": statistics.treatment.mean(),
                "sd_a": statistics.control.sd(), "sd_b": statistics.treatment.sd(),
                "gain": gain.as_ref().ok().map(|it| it.value),
                "gain_low": gain.as_ref().ok().map(|it| it.interval.lower),
                "gain_high": gain.as_ref().ok().map(|it| it.interval.upper),
                "gain_undefined": gain.as_ref().err().map(|it| it.0.clone()),
                "absolute_gain": absolute.map(|it| [it.value, it.interval.lower, it.interval.upper]),
                "t": test.map(|it| it.t), "df": test.map(|it| it.df),
                "p_welch": test.map(|it| it.p.two_sided.value()), "ln_p_welch": test.map(|it| it.p.two_sided.ln()),
                "p_mann_whitney": ranks.p.two_sided.value(), "ln_p_mann_whitney": ranks.p.two_sided.ln(),
                "d": statistics.cohens_d().ok(), "delta": statistics.delta.delta,
            });
            if let (Some(object), Value::Object(rest)) = (object.as_object_mut(), rest) {
                object.extend(rest);
            }
        }
    }
    if let (Ok(panel), Some((says, agree, asked))) = (&pair.panel, pair.agreement()) {
        object["panel_says"] = json!(pair.word(says));
        object["panel_agree"] = json!(agree);
        object["panel_asked"] = json!(asked);
        let answers = panel.answers.iter().map(|it| {
            let reason = if let Says::Undefined(reason) = it.says { Some(reason.to_string()) } else { None };
            json!({
                "method": it.id, "says": pair.word(it.says), "estimate": it.estimate, "estimate_is": it.meaning.code(),
                "p": it.p.map(PValue::value), "interval": it.interval.map(|it| [it.lower, it.upper]),
                "undefined": reason,
            })
        });
        object["panel"] = Value::Array(answers.collect());
    }
    object
}

fn change_json(it: &Change) -> Value {
    let gain = it.gain.as_ref();
    json!({
        "kind": "change of the gain", "metric": it.a.metric, "cell": it.a.cell, "arm_a": it.a.control,
        "arm_b": it.a.treatment, "better": it.a.better.as_str(), "gain": gain.map(|it| it.value),
        "gain_low": gain.map(|it| it.interval.lower), "gain_high": gain.map(|it| it.interval.upper),
        "gain_in_a": it.a.relative_gain(0.95).ok().map(|it| it.value),
        "gain_in_b": it.b.relative_gain(0.95).ok().map(|it| it.value),
    })
}

fn to_json(a: &Side, b: &Side, pairs: &[Pair], changes: &[Change], warnings: &[String]) -> Value {
    let side = |it: &Side| {
        let run = it.run.as_ref().map(|(_, it)| &it.data.run);
        json!({
            "name": it.name,
            "run": run.map(|it| it.id), "experiment": run.map(|it| &it.experiment),
            "version": run.map(|it| it.version), "sha256": run.map(|it| it.registration), "host": run.map(|it| &it.host),
        })
    };
    json!({
        "label": LABEL,
        "a": side(a),
        "b": side(b),
        "warnings": warnings,
        "comparisons": pairs.iter().map(pair_json).collect::<Vec<_>>(),
        "changes": changes.iter().map(change_json).collect::<Vec<_>>(),
    })
}
