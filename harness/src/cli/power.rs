use super::args::{Format, Global, Power as Args};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::session;
use super::table::Table;
use super::ui::Ui;
use crate::decide::{Against, Kind, POWERS, Planned, plan_power};
use crate::exchange::samples::{self, Decimal, Series};
use crate::prereg::{Prereg, Stopping};
use crate::store::{Git, Run, RunData, SampleSet};
use crate::vocab::{Agreement, Claim, Unit, minus, significant};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::path::Path;
use uuid::Uuid;

/// Where the spread comes from.
struct Pilot {
    /// In words.
    source: String,
    data: RunData,
    /// Whether its samples know their block.
    blocked: bool,
}

pub(super) fn run(args: &Args, global: &Global, ui: &mut Ui) -> Result<Exit, Failure> {
    // A file is named from where the user is, before the project is entered.
    let file = args.pilot.as_deref().map(read).transpose()?;
    let project = Project::find(global.project.as_deref())?;
    let id = project.id(&args.experiment).to_owned();
    let has_file = Path::new("experiments").join(format!("{id}.toml")).exists();
    let mut store = match (&file, has_file) {
        (Some(_), true) => None,
        _ => Some(session::open(global, &project, ui)?),
    };
    let registered = match &mut store {
        Some(store) if !has_file => session::versions(store, &id)?.pop().map(|(_, it)| it),
        _ => None,
    };
    let prereg = match registered {
        Some(it) => it,
        None => project.load(&id)?,
    };
    let pilot = match (file, &mut store) {
        (Some(series), _) => of_file(&prereg, series, args.pilot.as_deref().unwrap_or(Path::new("")))?,
        (None, Some(store)) => of_run(&prereg, store, args.from)?,
        (None, None) => return Err(Failure::new(Exit::Failed, "the store is not open")),
    };
    if let Some(store) = store {
        store.close()?;
    }
    let planned = plan_power(&prereg, &pilot.data, args.gain.map(|it| it / 100.0), pilot.blocked);
    show(ui, &prereg, &pilot, &planned)?;
    Ok(Exit::Done)
}

fn read(path: &Path) -> Result<Vec<Series>, Failure> {
    samples::read(path, Decimal::Point, None).map_err(|it| Failure::chain(Exit::Usage, &it))
}

/// The run that is named, or the newest complete one.
fn of_run(
    prereg: &Prereg,
    store: &mut super::records::Records,
    from: Option<Uuid>,
) -> Result<Pilot, Failure> {
    let id = &prereg.id;
    let run = match from {
        Some(run) => run,
        None => match store.latest_run(id)? {
            Some(line) => line.run.id,
            None => {
                return Err(Failure::new(
                    Exit::Failed,
                    format!("there is no complete run of `{id}` whose spread could be planned with"),
                )
                .hint(format!(
                    "give a pilot, a CSV file with a column `arm` and one for each metric: harness power {id} --pilot \
                     FILE; or measure: harness run {id}"
                )));
            }
        },
    };
    let mut data =
        store.run(run)?.ok_or_else(|| Failure::new(Exit::Usage, format!("no run {run} in the store")))?;
    let known = |it: &SampleSet| prereg.arm(&it.arm).is_some() && prereg.metric(&it.metric).is_some();
    if !data.sets.iter().any(known) {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "run {run} has no samples of an arm and a metric of `{id}`: it is one of `{}`",
                data.run.experiment
            ),
        ));
    }
    for set in &mut data.sets {
        let Some(metric) = prereg.metric(&set.metric) else { continue };
        let unit = Unit::parse(&set.unit).ok().filter(|it| it.kind() == metric.unit.kind());
        let unit = unit.ok_or_else(|| {
            let (name, stored, own) = (&set.metric, &set.unit, metric.unit);
            Failure::new(
                Exit::Usage,
                format!("`{name}` is in {stored} in run {run}, and registered in {own}"),
            )
        })?;
        if unit != metric.unit {
            set.values.iter_mut().for_each(|it| *it *= unit.scale() / metric.unit.scale());
            set.unit = metric.unit.name().to_owned();
        }
    }
    let at = data.run.started_at.strftime("%F %T UTC");
    Ok(Pilot { source: format!("run {run}, measured {at}"), data, blocked: true })
}

/// The samples of a file, as if they were a run.
fn of_file(prereg: &Prereg, series: Vec<Series>, path: &Path) -> Result<Pilot, Failure> {
    let shown = path.display();
    let refuse = |problem: String| Failure::new(Exit::Usage, format!("no pilot in `{shown}`: {problem}"));
    let blocked = series.iter().all(|it| !it.blocks.is_empty());
    let cells: Vec<String> = prereg.cells().iter().map(ToString::to_string).collect();
    let mut sets = Vec::new();
    for series in series {
        let name = series.metric.clone();
        let stripped = name.rsplit_once('_').map_or("", |(it, _)| it);
        let metric = match prereg.metrics.as_slice() {
            [only] if name.is_empty() || series.unit.is_some_and(|_| Unit::parse(&name).is_ok()) => {
                Some(only)
            }
            _ => prereg.metric(&name).or_else(|| prereg.metric(stripped)),
        };
        let metric = metric.ok_or_else(|| {
            let known: Vec<_> = prereg.metrics.iter().map(|it| it.name.as_str()).collect();
            refuse(format!("no metric `{name}` is registered, only `{}`", known.join("`, `")))
        })?;
        if prereg.arm(&series.arm).is_none() {
            let known: Vec<_> = prereg.arms.iter().map(|it| it.name.as_str()).collect();
            let arm = &series.arm;
            return Err(refuse(match arm.as_str() {
                "" => "it does not say which arm its samples belong to".to_owned(),
                _ => format!("no arm `{arm}` is registered, only `{}`", known.join("`, `")),
            }));
        }
        if !series.cell.is_empty() && !cells.contains(&series.cell) {
            let known = match cells.as_slice() {
                [only] if only.is_empty() => "nothing is swept".to_owned(),
                _ => format!("cells are `{}`", cells.join("`, `")),
            };
            return Err(refuse(format!("there is no cell `{}`: {known}", series.cell)));
        }
        if let Some(unit) = series.unit.filter(|it| it.kind() != metric.unit.kind()) {
            return Err(refuse(format!("`{name}` is in {unit}, and registered in {}", metric.unit)));
        }
        let series = series.in_unit(metric.unit);
        // A pilot that names no cells stands for each of them.
        for cell in cells.iter().filter(|it| series.cell.is_empty() || **it == series.cell) {
            let set = |first_block: u32, values: Vec<f64>| SampleSet {
                metric: metric.name.clone(),
                cell: cell.clone(),
                arm: series.arm.clone(),
                warmup: false,
                first_block,
                unit: metric.unit.name().to_owned(),
                values,
                at_ns: Vec::new(),
            };
            if blocked {
                sets.extend(
                    series.blocks.iter().zip(&series.values).map(|(block, it)| set(*block, vec![*it])),
                );
            } else {
                sets.push(set(0, series.values.clone()));
            }
        }
    }
    let claimed = prereg.hypotheses.iter().flat_map(|it| prereg.arms_of(it));
    let guarded = prereg.guards.iter().flat_map(|it| [it.contrast.control.as_str(), &it.contrast.treatment]);
    for arm in claimed.chain(guarded) {
        if !sets.iter().any(|it| it.arm == *arm) {
            return Err(refuse(format!("there are no samples of arm `{arm}`")));
        }
    }
    let run = Run {
        id: Uuid::nil(),
        experiment: prereg.id.clone(),
        version: 0,
        registration: prereg.digest(),
        host: String::new(),
        environment: Value::Null,
        harness: String::new(),
        seed: 0,
        git: Git { commit: "unknown".to_owned(), dirty: false },
        started_at: Timestamp::UNIX_EPOCH,
    };
    let data = RunData {
        run,
        arms: Vec::new(),
        cells: Vec::new(),
        events: Vec::new(),
        sets,
        invalidations: Vec::new(),
    };
    Ok(Pilot { source: format!("pilot `{shown}`"), data, blocked })
}

fn show(ui: &mut Ui, prereg: &Prereg, pilot: &Pilot, planned: &[Planned]) -> Result<(), Failure> {
    let head = format!("{}: planned with the spread of {}", prereg.id, pilot.source);
    if planned.is_empty() && matches!(ui.format, Format::Text | Format::Markdown) {
        return ui.result(&format!("{head}\n\nNothing is claimed or guarded, so that any n will do."));
    }
    match ui.format {
        Format::Json => {
            let document = json!({
                "experiment": prereg.id,
                "source": pilot.source,
                "samples": prereg.design.samples,
                "claims": planned.iter().map(to_json).collect::<Vec<_>>(),
            });
            ui.result(&format!("{document:#}"))
        }
        Format::Csv => ui.result(&numbers(planned).show(Format::Csv)),
        format => {
            let table = table(prereg, planned).show(format);
            ui.result(&format!("{head}\n\n{table}"))?;
            if format == Format::Text {
                ui.result("")?;
                ui.result(&explanation(prereg, planned))?;
            }
            Ok(())
        }
    }
}

fn explanation(prereg: &Prereg, planned: &[Planned]) -> String {
    let mut lines = vec![
        "power: the chance that the registered n decides, if the true gain is the one in the row".to_owned(),
        "detectable: the smallest true gain that the registered n shows with 80 % power".to_owned(),
    ];
    if prereg.hypotheses.iter().any(|it| it.claim == Claim::Superior && it.min_effect > 0.0) {
        lines.push("min_effect: counted; a true effect below it is supported by no n".to_owned());
    }
    if prereg.decision.agreement == Agreement::Require {
        lines.push(
            "agreement: not counted; all methods of the panel have to agree as well, so that power is less than this"
                .to_owned(),
        );
    }
    match prereg.design.looks.as_ref().map(|it| it.stopping) {
        Some(Stopping::GroupSequential(_)) => lines.push(
            "looks: counted by the boundary of the last one; a cell that may stop before it has more power than this"
                .to_owned(),
        ),
        Some(Stopping::SignEProcess) => lines.push(
            "looks: not counted; evidence that may be read at any time needs more samples than this".to_owned(),
        ),
        None => {}
    }
    if planned.iter().any(|it| it.against.len() == 1) {
        lines.push(
            "observed: what these samples happened to show; plan for a gain that would matter: --gain PCT"
                .to_owned(),
        );
    }
    let ratio = |it: &Planned| Some(it.paired_sd? / it.unpaired_sd?);
    if let Some(ratio) = planned.iter().filter_map(ratio).max_by(f64::total_cmp) {
        let words = if ratio < 0.95 { "blocks take out at least" } else { "blocks do not help everywhere:" };
        let share = if ratio < 0.95 { 1.0 - ratio } else { ratio };
        let rest = if ratio < 0.95 { "of the deviation" } else { "of the deviation stays within them" };
        lines.push(format!(
            "paired: by differences within blocks; {words} {} % {rest}",
            significant(share * 100.0, 2)
        ));
    }
    lines.join("\n")
}

fn name(it: &Planned) -> String {
    if it.kind == Kind::Guard { format!("guard {}", it.id) } else { it.id.clone() }
}

fn table(prereg: &Prereg, planned: &[Planned]) -> Table {
    let several = prereg.cells().len() > 1;
    let paired = planned.iter().any(|it| it.against.iter().flatten().any(|it| it.needed_paired.is_some()));
    let mut columns = vec!["claim"];
    columns.extend(several.then_some("cell"));
    columns.extend(["n", "alpha", "true gain", "power", "n for 80 %", "n for 95 %"]);
    columns.extend(paired.then_some(["paired, 80 %", "paired, 95 %"]).into_iter().flatten());
    columns.push("detectable");
    let mut table = Table::new(columns);
    for plan in planned {
        for against in &plan.against {
            let mut row = vec![json!(name(plan))];
            row.extend(several.then(|| json!(plan.pilot.cell)));
            row.extend([json!(plan.n), json!(significant(plan.alpha, 2))]);
            match against {
                Ok(it) => row.extend(prospects(plan, it, paired)),
                Err(undefined) => {
                    row.push(json!(undefined.to_string()));
                    row.extend(std::iter::repeat_n(Value::Null, if paired { 5 } else { 3 }));
                }
            }
            row.push(json!(detectable(plan)));
            table.row(row);
        }
    }
    table
}

fn prospects(plan: &Planned, it: &Against, paired: bool) -> Vec<Value> {
    let word = if it.observed { "observed " } else { "" };
    let gain = format!("{word}{}", amount(plan, it.gain));
    let chance = match it.power {
        power if power > 0.999 => "> 99.9 %".to_owned(),
        power if power < 0.001 => "< 0.1 %".to_owned(),
        power => format!("{:.1} %", power * 100.0),
    };
    let power = if it.holds { chance } else { format!("{chance} to refute") };
    let counts =
        |needed: [Option<usize>; 2]| needed.map(|n| n.map_or_else(|| json!("no feasible n"), |n| json!(n)));
    let mut values = vec![json!(gain), json!(power)];
    values.extend(counts(it.needed));
    if paired {
        values.extend(it.needed_paired.map_or([Value::Null, Value::Null], counts));
    }
    values
}

/// A gain with sign and unit.
fn amount(plan: &Planned, gain: f64) -> String {
    let gain = plan.shown(gain);
    let sign = if gain > 0.0 { "+" } else { "" };
    let unit = if plan.unit() == "1" { String::new() } else { format!(" {}", plan.unit()) };
    minus(format!("{sign}{}{unit}", significant(gain, 3)))
}

/// The gain that the registered n shows, and how far that lies from the margin.
fn detectable(plan: &Planned) -> String {
    match (&plan.detectable, plan.claim) {
        (Err(undefined), _) => undefined.to_string(),
        (Ok(distance), Claim::Equivalent) if *distance > plan.margin.value() => {
            "none: the margin is too narrow".to_owned()
        }
        (Ok(distance), Claim::Equivalent) => {
            let within = plan.shown(plan.margin.value() - distance);
            format!("within ±{} {}", significant(within, 3), plan.unit())
        }
        (Ok(distance), _) => {
            let beyond = significant(plan.shown(*distance), 3);
            let at = amount(plan, plan.threshold() + distance);
            if plan.threshold() == 0.0 { at } else { format!("{at} (margin + {beyond})") }
        }
    }
}

const COLUMNS: [&str; 20] = [
    "kind",
    "id",
    "metric",
    "cell",
    "treatment",
    "control",
    "claim",
    "margin",
    "unit",
    "alpha",
    "n",
    "gain",
    "gain_is",
    "holds",
    "power",
    "n_80",
    "n_95",
    "n_80_paired",
    "n_95_paired",
    "detectable_beyond_margin",
];

/// A row for each true gain, as numbers.
fn numbers(planned: &[Planned]) -> Table {
    let mut table = Table::new(COLUMNS);
    for plan in planned {
        let common = to_json(plan);
        for against in common["against"].as_array().into_iter().flatten() {
            table.row(COLUMNS.map(|it| against.get(it).or(common.get(it)).cloned().unwrap_or_default()));
        }
    }
    table
}

fn to_json(plan: &Planned) -> Value {
    let statistics = plan.pilot.statistics.as_ref().ok();
    let against = plan.against.iter().enumerate().map(|(i, it)| {
        let gain_is = if i == 0 { "observed" } else { "given" };
        match it {
            Ok(it) => {
                let paired = it.needed_paired.unwrap_or_default();
                json!({
                    "gain_is": gain_is, "gain": plan.shown(it.gain), "holds": it.holds, "power": it.power,
                    "n_80": it.needed[0], "n_95": it.needed[1], "n_80_paired": paired[0], "n_95_paired": paired[1],
                })
            }
            Err(undefined) => json!({ "gain_is": gain_is, "gain": null, "undefined": undefined.0 }),
        }
    });
    json!({
        "kind": if plan.kind == Kind::Guard { "guard" } else { "hypothesis" },
        "id": plan.id,
        "metric": plan.pilot.metric,
        "cell": plan.pilot.cell,
        "treatment": plan.pilot.treatment,
        "control": plan.pilot.control,
        "claim": plan.claim,
        "margin": plan.shown(plan.margin.value()),
        "unit": plan.unit(),
        "alpha": plan.alpha,
        "n": plan.n,
        "powers": POWERS,
        "pilot": statistics.map(|it| json!({
            "n_treatment": it.treatment.n(), "n_control": it.control.n(), "sd_treatment": it.treatment.sd(),
            "sd_control": it.control.sd(), "mean_treatment": it.treatment.mean(), "mean_control": it.control.mean(),
        })),
        "sd_of_differences": plan.paired_sd,
        "sd_of_unpaired_differences": plan.unpaired_sd,
        "detectable_beyond_margin": plan.detectable.as_ref().ok().map(|it| plan.shown(*it)),
        "detectable_undefined": plan.detectable.as_ref().err().map(|it| it.0.clone()),
        "against": against.collect::<Vec<_>>(),
    })
}
