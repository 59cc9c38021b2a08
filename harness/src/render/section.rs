//! The section of one experiment in its ledger.

use super::criteria::{MANY, criteria};
use super::design::design;
use super::effects::{contrasts, scorecard};
use super::experiment::{Experiment, RecordedRun};
use super::figures::Figure;
use super::markdown::{Align, Inline, Table, code, contained, escape, image, link, prose, summary};
use super::{caveats, factorial, family, host, looks, robustness, tables};
use crate::analyse::{Caveat, Comparison, Place};
use crate::decide::{Judged, label};
use crate::prereg::Prereg;
use crate::store::Git;
use crate::vocab::{RunState, Verdict};
use serde_json::Value;
use std::fmt::{self, Write};

/// Rows that are folded away: more than a reader scrolls over.
const LONG: usize = 40;

/// `baseline` is the experiment that it starts from, where the same ledger has it.
pub(super) fn write(
    page: &mut String,
    experiment: &Experiment,
    baseline: Option<&Experiment>,
    figures: &[Figure],
) -> fmt::Result {
    let prereg = experiment.prereg();
    writeln!(page, "<a id=\"{}\"></a>\n", anchor(prereg))?;
    writeln!(page, "## {}: {}\n", escape(&prereg.id), escape(&prereg.title))?;
    if !prereg.claim.is_empty() {
        writeln!(page, "**Claim.** {}\n", prose(&prereg.claim))?;
    }
    if let Some(id) = &prereg.baseline {
        let standing = baseline.and_then(standing).map_or_else(String::new, |it| format!(" ({it})"));
        writeln!(page, "**Starts from** {}{standing}.\n", code(id))?;
    }
    if let Some(standing) = standing(experiment) {
        writeln!(page, "**Claim {standing}.**\n")?;
    }
    if !prereg.changes.is_empty() {
        writeln!(page, "**Changes.**\n")?;
        for change in &prereg.changes {
            writeln!(page, "- {}", prose(change))?;
        }
        writeln!(page)?;
    }
    match experiment.deciding() {
        None => {
            let why = match experiment.label() {
                "invalidated" => "**Invalidated.** Every run of this version was invalidated: none decides.",
                "not complete" => "**Not complete.** No run of this version came to its end.",
                _ => "**Not run yet.** Registered, with no run of this version.",
            };
            writeln!(page, "{why}\n")?;
            invalidated(page, experiment)?;
        }
        Some(run) => {
            verdict(page, experiment, run)?;
            for stem in ["/gain.svg", "/heat-map.svg"] {
                for figure in figures.iter().filter(|it| it.path.ends_with(stem)) {
                    picture(page, figure)?;
                }
            }
            family::write(page, prereg, run)?;
            looks::write(page, prereg, &run.decision)?;
            for figure in figures.iter().filter(|it| it.path.ends_with("/looks.svg")) {
                picture(page, figure)?;
            }
            measurements(page, prereg, run, figures)?;
            factorial::write(page, prereg, run, figures)?;
            beside_reference(page, prereg, run)?;
            analysis(page, prereg, run)?;
            caveats::write(page, run)?;
        }
    }
    design(page, prereg)?;
    if let Some(run) = experiment.deciding() {
        host::write(page, prereg, run, figures)?;
        environment(page, prereg, run)?;
    }
    registrations(page, experiment)?;
    runs(page, experiment)?;
    invalidations(page, experiment)?;
    reproduce(page, experiment)?;
    if let Some(notes) = &experiment.notes {
        writeln!(page, "### Notes, written after the data\n\n{}\n", contained(notes.trim()))?;
    }
    Ok(())
}

/// `standing: rechecked 3 of 4`; `None` as long as an accepted claim was not measured again.
fn standing(experiment: &Experiment) -> Option<String> {
    let (agreeing, all, _) = experiment.replications();
    Some(format!("{}: rechecked {agreeing} of {all}", experiment.standing()?.word()))
}

/// The target of links to the section; an id has no character that needs escaping.
pub(super) fn anchor(prereg: &Prereg) -> &str {
    &prereg.id
}

/// `2 of 3, on 2 hosts`, and how many runs were invalidated.
pub(super) fn replicated(experiment: &Experiment) -> String {
    let mut text = match experiment.replications() {
        (_, 0, _) => "not yet".to_owned(),
        (agreeing, all, 1) => format!("{agreeing} of {all}, on 1 host"),
        (agreeing, all, hosts) => format!("{agreeing} of {all}, on {hosts} hosts"),
    };
    match experiment.invalidated() {
        0 => {}
        n => text.push_str(&format!("; {n} invalidated")),
    }
    text
}

pub(super) fn picture(page: &mut String, figure: &Figure) -> fmt::Result {
    writeln!(page, "{}\n", image(&figure.alternative, &format!("../plots/{}", figure.path)))
}

fn verdict(page: &mut String, experiment: &Experiment, run: &RecordedRun) -> fmt::Result {
    let (prereg, decision) = (experiment.prereg(), &run.decision);
    writeln!(page, "### Verdict: {}\n", label(prereg, decision))?;
    match decision.verdict {
        Verdict::Accept => {
            let all = match (decision.hypotheses.is_empty(), decision.guards.is_empty()) {
                (false, false) => "Every hypothesis is supported and every guard held.",
                (false, true) => "Every hypothesis is supported; nothing else is guarded.",
                (true, _) => "Every guard held; no gain is claimed.",
            };
            writeln!(page, "{all}\n")?;
        }
        Verdict::Recorded => writeln!(page, "Nothing is claimed; the samples are on record.\n")?,
        Verdict::Reject | Verdict::Inconclusive | Verdict::Invalid => {
            for reason in &decision.reasons {
                writeln!(page, "- {}", prose(reason))?;
            }
            writeln!(page)?;
        }
    }
    writeln!(page, "{}", criteria(prereg, decision))?;
    for grid in contrasts(prereg, decision) {
        writeln!(page, "Treatments against controls, {}:\n\n{}", escape(&grid.name), grid.table())?;
    }
    let (agreeing, later, hosts) = experiment.replications();
    if later > 0 {
        let s = if later == 1 { "" } else { "s" };
        let on = if hosts == 1 { "one host".to_owned() } else { format!("{hosts} hosts") };
        writeln!(
            page,
            "Replicated: {agreeing} of {later} later run{s} gave the same verdict; on {on} in all.\n"
        )?;
    }
    match experiment.set_aside() {
        0 => {}
        1 => writeln!(page, "1 other run of this registration is INVALID; it is listed below.\n")?,
        n => writeln!(page, "{n} other runs of this registration are INVALID; they are listed below.\n")?,
    }
    invalidated(page, experiment)
}

/// How many runs were invalidated by hand: a reader must see when somebody chose among runs.
fn invalidated(page: &mut String, experiment: &Experiment) -> fmt::Result {
    match experiment.invalidated() {
        0 => Ok(()),
        1 => writeln!(
            page,
            "**1 run was invalidated by hand** and does not count; it is struck out below, with its reason.\n"
        ),
        n => writeln!(
            page,
            "**{n} runs were invalidated by hand** and do not count; they are struck out below, with their reasons.\n"
        ),
    }
}

/// Every time a run was invalidated or restored.
fn invalidations(page: &mut String, experiment: &Experiment) -> fmt::Result {
    let mut table = Table::new([
        ("run", Align::Left),
        ("when", Align::Left),
        ("what", Align::Left),
        ("reason", Align::Left),
    ]);
    for run in experiment.in_order() {
        for it in &run.data.invalidations {
            table.row([
                code(&run.data.run.id.to_string()),
                it.at.strftime("%F %T UTC").to_string().into(),
                if it.invalid { "invalidated" } else { "restored" }.into(),
                it.reason.as_str().into(),
            ]);
        }
    }
    if table.is_empty() { Ok(()) } else { writeln!(page, "### Invalidations\n\n{table}") }
}

fn measurements(page: &mut String, prereg: &Prereg, run: &RecordedRun, figures: &[Figure]) -> fmt::Result {
    writeln!(page, "### Measurements\n")?;
    let cells = prereg.cells();
    for cell in &cells {
        let cell = cell.to_string();
        let table = tables::cell(prereg, run, &cell);
        if cells.len() >= MANY || (table.len() > LONG && !cell.is_empty()) {
            writeln!(page, "{}\n{table:#}\n</details>\n", summary(&cell))?;
        } else if cell.is_empty() {
            writeln!(page, "{table}")?;
        } else {
            writeln!(page, "#### {}\n\n{table}", escape(&cell))?;
        }
    }
    // Those of the gains, of looks, of the host and of a factorial stand elsewhere.
    let elsewhere = |it: &Figure| {
        let stands = ["/gain.svg", "/heat-map.svg", "/looks.svg", host::PLOT];
        stands.iter().any(|stem| it.path.ends_with(stem)) || it.path.contains("/interaction-")
    };
    let rest: Vec<_> = figures.iter().filter(|it| !elsewhere(it)).collect();
    // The metric that is claimed comes first: its plots are shown, the others folded away.
    let (shown, folded) = rest.split_at(rest.len().min(2));
    for figure in shown {
        picture(page, figure)?;
    }
    if !folded.is_empty() {
        writeln!(page, "{}", summary("Plots of the other metrics"))?;
        for figure in folded {
            picture(page, figure)?;
        }
        writeln!(page, "</details>\n")?;
    }
    Ok(())
}

fn beside_reference(page: &mut String, prereg: &Prereg, run: &RecordedRun) -> fmt::Result {
    let Some(grid) = scorecard(prereg, &run.analysis) else { return Ok(()) };
    writeln!(
        page,
        "### Scorecard\n\nMeans as percentages of that of {}, with 95 % intervals by Fieller's method. Exploratory: nothing is decided by it.\n",
        code(&grid.name)
    )?;
    let table = grid.table();
    if table.len() > LONG {
        return writeln!(page, "{}\n{table:#}\n</details>\n", summary("Every metric, cell and arm"));
    }
    writeln!(page, "{table}")
}

fn analysis(page: &mut String, prereg: &Prereg, run: &RecordedRun) -> fmt::Result {
    if run.analysis.comparisons.is_empty() {
        return Ok(());
    }
    writeln!(page, "### Statistical analysis\n")?;
    writeln!(
        page,
        "Differences, t, d and δ are treatment minus control; a gain is positive where the treatment is better. {}.\n",
        tables::interval_note(prereg, &run.decision)
    )?;
    let hypotheses = &run.decision.hypotheses;
    let folded = hypotheses.len() >= MANY;
    for judged in hypotheses {
        if folded {
            let (name, finding, gain) = (judged.name(), judged.finding_word(), judged.gain_text());
            writeln!(page, "{}", summary(&format!("{name}: {finding}, {gain}")))?;
        } else {
            writeln!(page, "#### {}\n", escape(&judged.name()))?;
        }
        let table = tables::statistics(prereg, judged, is_normal(run, judged));
        if folded {
            writeln!(page, "{table:#}")?;
        } else {
            writeln!(page, "{table}")?;
        }
        robustness::write(page, judged)?;
        if folded {
            writeln!(page, "</details>\n")?;
        }
    }
    writeln!(page, "{}", summary("Every metric and cell"))?;
    writeln!(page, "{:#}", tables::comparisons(prereg, run))?;
    writeln!(page, "</details>\n")
}

fn environment(page: &mut String, prereg: &Prereg, run: &RecordedRun) -> fmt::Result {
    let it = &run.data.run;
    writeln!(page, "### Environment of the deciding run\n")?;
    let mut table = Table::new([("fact", Align::Left), ("value", Align::Left)]);
    let mut put = |name: &str, value: Inline| {
        table.row([name.into(), value]);
    };
    put("run", code(&it.id.to_string()));
    put("host", code(&it.host));
    put("harness", it.harness.as_str().into());
    put("seed of the order", it.seed.to_string().into());
    if let Some(facts) = it.environment.as_object() {
        // A calibration is a document; the criteria tell what it is used for.
        for (name, value) in facts.iter().filter(|(name, _)| *name != "calibration") {
            put(name, value.as_str().map_or_else(|| value.to_string(), str::to_owned).into());
        }
    }
    let registered = prereg.arms.iter().filter_map(|it| run.data.arms.iter().find(|arm| arm.arm == it.name));
    for arm in registered {
        let binary = arm.binary.map_or_else(String::new, |it| format!(", SHA-256 {}", it.short()));
        let builds = arm.build.as_ref().map_or_else(String::new, builds);
        put(&format!("arm {}", arm.arm), format!("{}{binary}{builds}", arm.command.join(" ")).into());
    }
    writeln!(page, "{table}")
}

/// The builds of an arm, if there are several: by what each was linked, and what came out.
fn builds(build: &Value) -> String {
    let all = build.get("builds").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let one = |it: &Value| {
        let binary: String = it.get("binary")?.as_str()?.chars().take(12).collect();
        Some(format!("order {} gives {binary}", it.get("salt")?))
    };
    let told: Vec<_> = all.iter().filter_map(one).collect();
    if told.is_empty() { String::new() } else { format!("; {} builds: {}", all.len(), told.join(", ")) }
}

fn git(git: &Git) -> Inline {
    let short: String = git.commit.chars().take(12).collect();
    let dirty = if git.dirty { " with changes" } else { "" };
    Inline::markdown(&format!("{}{dirty}", code(&short)))
}

fn registrations(page: &mut String, experiment: &Experiment) -> fmt::Result {
    writeln!(page, "### Registrations\n")?;
    let mut table = Table::new([
        ("version", Align::Right),
        ("registered", Align::Left),
        ("SHA-256", Align::Left),
        ("commit", Align::Left),
        ("reason of the amendment", Align::Left),
    ]);
    for (it, _) in &experiment.versions {
        table.row([
            it.version.to_string().into(),
            it.registered_at.strftime("%F %T UTC").to_string().into(),
            code(&it.digest.short()),
            git(&it.git),
            it.reason.clone().unwrap_or_default().into(),
        ]);
    }
    writeln!(page, "{table}")
}

fn runs(page: &mut String, experiment: &Experiment) -> fmt::Result {
    if experiment.runs.is_empty() {
        return Ok(());
    }
    writeln!(page, "### Runs\n")?;
    let mut table = Table::new([
        ("run", Align::Left),
        ("version", Align::Right),
        ("measured", Align::Left),
        ("host", Align::Left),
        ("commit", Align::Left),
        ("state", Align::Left),
        ("verdict", Align::Left),
        ("first hypothesis", Align::Left),
        ("", Align::Left),
    ]);
    let newest = experiment.registration().version;
    let deciding = experiment.deciding().map(|it| it.data.run.id);
    for it in experiment.in_order() {
        let run = &it.data.run;
        let prereg = experiment.versions.iter().find(|(that, _)| that.version == run.version);
        let prereg = prereg.map_or(experiment.prereg(), |(_, it)| it);
        let part = if it.is_invalidated() {
            "invalidated"
        } else if deciding == Some(run.id) {
            "decides"
        } else if run.version < newest {
            "before the amendment"
        } else if it.is_over() && it.decision.verdict != Verdict::Invalid {
            "replication"
        } else if it.is_over() {
            "set aside"
        } else {
            ""
        };
        let verdict = if it.is_over() { label(prereg, &it.decision) } else { "" };
        let state = match it.state {
            RunState::Done => "complete",
            RunState::Running | RunState::Resumed => "not complete",
            RunState::Failed => "failed",
            RunState::Aborted => "interrupted",
        };
        let first = it.decision.hypotheses.first().filter(|_| it.is_over());
        let id = code(&run.id.to_string());
        table.row([
            if it.is_invalidated() { Inline::markdown(&format!("~~{id}~~")) } else { id },
            run.version.to_string().into(),
            run.started_at.strftime("%F %T UTC").to_string().into(),
            code(&run.host),
            git(&run.git),
            state.into(),
            verdict.into(),
            first.map(Judged::gain_text).unwrap_or_default().into(),
            part.into(),
        ]);
    }
    writeln!(page, "{table}")
}

fn reproduce(page: &mut String, experiment: &Experiment) -> fmt::Result {
    let id = &experiment.prereg().id;
    writeln!(page, "### Reproduce\n\n```sh\nharness run {id}\n```\n")?;
    if experiment.runs.is_empty() {
        return Ok(());
    }
    let evidence = link(&format!("evidence/{id}/"), &format!("evidence/{id}/"));
    writeln!(page, "A further run is listed as a replication. Every sample of the runs above: {evidence}.\n")
}

/// Whether neither arm has the caveat that it is not normal.
fn is_normal(run: &RecordedRun, judged: &Judged) -> bool {
    let Comparison { metric, cell, treatment, control, .. } = &judged.comparison;
    let about =
        |it: &Place| it.metric == *metric && it.cell == *cell && [treatment, control].contains(&&it.arm);
    let caveats = &run.analysis.caveats;
    !caveats.iter().any(|it| matches!(it, Caveat::NotNormal { place, .. } if about(place)))
}
