use super::args::{Audit as Args, Format, Global};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::table::Table;
use super::ui::{Tone, Ui};
use crate::audit::{Audit, Document, Row, Shown, Verdict, page};
use crate::exchange::evidence::replace;
use crate::prereg::LoadError;
use crate::render::markdown::safe_file_name;
use serde_json::{Value, json};

pub(super) fn run(args: &Args, global: &Global, ui: &mut Ui) -> Result<Exit, Failure> {
    let document = Document::load(&args.file).map_err(failure)?;
    let audit = Audit::of(document);
    let file = args.file.file_name().unwrap_or_default().to_string_lossy();
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let page = page(&audit, &file);
    if args.write || args.check {
        let name = args.page.clone().unwrap_or_else(|| format!("audit-{stem}"));
        on_disk(args, global, ui, &safe_file_name(&name), &page)?;
    } else {
        if args.page.is_some() {
            return Err(Failure::new(Exit::Usage, "`--page` names a page, and none is written")
                .hint("add `--write` or `--check`"));
        }
        match ui.format {
            Format::Json => ui.result(&format!("{:#}", to_json(&audit, &file)))?,
            Format::Markdown => ui.result(page.trim_end())?,
            Format::Csv => ui.result(&table(&audit, ui).show(Format::Csv))?,
            Format::Text => {
                ui.result(&table(&audit, ui).show(Format::Text))?;
                ui.result(&counts(&audit, ui))?;
            }
        }
    }
    let broken = audit.count(Verdict::DoesNotFollow) > 0;
    Ok(if args.gate && broken { Exit::Reject } else { Exit::Done })
}

/// Writes the page, or compares it with the one that is there.
fn on_disk(args: &Args, global: &Global, ui: &mut Ui, name: &str, page: &str) -> Result<(), Failure> {
    let project = Project::find(global.project.as_deref())?;
    let path = project.root.join("ledgers").join(format!("{name}.md"));
    let shown = project.shown(&path);
    if args.check {
        if std::fs::read_to_string(&path).is_ok_and(|it| it == page) {
            ui.detail(&format!("{shown} is up to date"));
            return Ok(());
        }
        return Err(Failure::new(Exit::Failed, format!("{shown} is not what the audit renders"))
            .hint("write it anew: --write"));
    }
    replace(&path, page.as_bytes())?;
    ui.result(&shown)
}

fn failure(error: LoadError) -> Failure {
    match &error {
        LoadError::Invalid(problems) => {
            let message = match problems.all().len() {
                1 => "1 problem in the audit".to_owned(),
                n => format!("{n} problems in the audit"),
            };
            let details = problems.to_string().lines().map(str::to_owned).collect();
            Failure { details, ..Failure::new(Exit::Usage, message) }
        }
        _ => Failure::chain(Exit::Usage, &error),
    }
}

fn table(audit: &Audit, ui: &Ui) -> Table {
    let text = ui.format == Format::Text;
    let mut columns =
        vec!["claim", "kind", "claimed", "recomputed", "range from rounding", "interval", "verdict"];
    if !text {
        columns.extend(["where", "formula", "note"]);
    }
    let mut table = Table::new(columns);
    for row in &audit.rows {
        let claim = &audit.document.claims[row.claim];
        let shown = Shown::of(audit, row);
        let verdict = row.finding.verdict;
        let mut cells = [claim.id.as_str(), claim.kind.id].map(Value::from).to_vec();
        cells
            .extend([shown.claimed, shown.recomputed, shown.range, shown.interval].map(|it| short(it, text)));
        cells.push(Value::from(verdict.as_str()));
        if !text {
            cells.extend([claim.place.clone(), row.finding.formula.clone(), shown.note].map(Value::from));
        }
        table.row(cells);
    }
    table
}

/// On a terminal, rows of many results would push the others off it.
fn short(text: String, cut: bool) -> Value {
    const WIDEST: usize = 40;
    if cut && text.chars().count() > WIDEST {
        return text.chars().take(WIDEST - 1).chain(['…']).collect::<String>().into();
    }
    text.into()
}

fn counts(audit: &Audit, ui: &Ui) -> String {
    let parts: Vec<String> =
        Verdict::ALL.iter().map(|it| ui.tone(tone(*it), &format!("{} {}", audit.count(*it), it))).collect();
    format!("{} claims: {}", audit.rows.len(), parts.join(", "))
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Agrees | Verdict::WithinRounding => Tone::Good,
        Verdict::DoesNotFollow => Tone::Bad,
        Verdict::CannotBeChecked => Tone::Open,
    }
}

fn to_json(audit: &Audit, file: &str) -> Value {
    let source = &audit.document.source;
    let counts: serde_json::Map<_, _> =
        Verdict::ALL.iter().map(|it| (it.as_str().to_owned(), json!(audit.count(*it)))).collect();
    let claims: Vec<_> = audit.rows.iter().map(|it| row(audit, it)).collect();
    json!({
        "file": file,
        "source": { "title": source.title, "date": source.date, "citation": source.citation },
        "counts": counts,
        "claims": claims,
    })
}

fn row(audit: &Audit, row: &Row) -> Value {
    let claim = &audit.document.claims[row.claim];
    let finding = &row.finding;
    // Where there is no bound, there is no number to give.
    let bound = |it: f64| if it.is_finite() { json!(it) } else { Value::Null };
    let results: Vec<_> = finding
        .results
        .iter()
        .map(|it| {
            let range = [bound(it.reach.range.low), bound(it.reach.range.high)];
            json!({ "label": it.label, "value": it.reach.at, "range": range })
        })
        .collect();
    let details: Vec<_> =
        finding.details.iter().map(|it| json!({ "label": it.label, "value": bound(it.value) })).collect();
    let interval =
        finding.interval.map(|it| json!({ "low": bound(it.low), "high": bound(it.high), "level": it.level }));
    json!({
        "id": claim.id,
        "where": claim.place,
        "quote": claim.quote,
        "kind": claim.kind.id,
        "claimed": claim.claimed.to_string(),
        "unit": claim.unit,
        "formula": finding.formula,
        "recomputed": results,
        "interval": interval,
        "verdict": finding.verdict.as_str(),
        "reason": finding.reason,
        "details": details,
        "note": claim.note,
    })
}
