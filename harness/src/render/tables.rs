//! Words and tables that ledger and terminal share.

use super::experiment::RecordedRun;
use super::figures::claimed_first;
use super::markdown::{Align, Inline, Table, code};
use crate::analyse::{Comparison, Undefined};
use crate::decide::{Decision, Judged, gain_text};
use crate::prereg::{Contrast, Prereg};
use crate::stats::{Interval, PValue, StatsError};
use crate::vocab::{Correction, Margin, Scalar, Unit, minus, significant, with_interval};

/// The levels of the intervals that decide, in a few words: `interval: 95 %, guards 90 %`.
pub(super) fn levels(decision: &Decision) -> String {
    let level = |judged: &[Judged]| judged.iter().find_map(|it| Some(it.gain.as_ref().ok()?.interval.level));
    match (level(&decision.hypotheses), level(&decision.guards)) {
        (Some(level), Some(guards)) => {
            format!("interval: {} %, guards {} %", percent(level), percent(guards))
        }
        (Some(level), None) | (None, Some(level)) => format!("interval: {} %", percent(level)),
        (None, None) => "interval".to_owned(),
    }
}

/// What the intervals of an experiment's gains are, in a sentence.
pub(super) fn interval_note(prereg: &Prereg, decision: &Decision) -> String {
    let level = |judged: &[Judged]| judged.iter().find_map(|it| Some(it.gain.as_ref().ok()?.interval.level));
    let mut parts = Vec::new();
    if let Some(level) = level(&decision.hypotheses) {
        let family = decision.hypotheses.len();
        let simultaneous = match prereg.decision.correction {
            Correction::None => String::new(),
            _ if family == 1 => String::new(),
            _ => format!(", simultaneous over {family}"),
        };
        parts.push(format!("hypotheses {} %{simultaneous}", percent(level)));
    }
    if let Some(level) = level(&decision.guards) {
        parts.push(format!("guards {} % (one-sided {} %)", percent(level), percent((1.0 + level) / 2.0)));
    }
    format!("Intervals that decide: {}", parts.join("; "))
}

/// A level as a percentage without needless zeros.
pub(super) fn percent(level: f64) -> String {
    let number = significant(level * 100.0, 4);
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Mean, spread and quantiles of every metric and arm in one cell.
pub(super) fn cell(prereg: &Prereg, run: &RecordedRun, cell: &str) -> Table {
    let mut table = Table::new([
        ("metric", Align::Left),
        ("arm", Align::Left),
        ("n", Align::Right),
        ("mean", Align::Right),
        ("95 % interval of the mean", Align::Left),
        ("SD", Align::Right),
        ("median", Align::Right),
        ("min", Align::Right),
        ("max", Align::Right),
    ]);
    for metric in claimed_first(prereg) {
        let rows = run.analysis.arms.iter().filter(|it| it.cell == cell && it.metric == metric.name);
        for it in rows {
            let (unit, summary) = (it.unit, &it.summary);
            let show = |value: f64| minus(unit.show(value));
            let interval = it.mean_interval.map(|ci| minus(between(unit, ci.lower, ci.upper)));
            table.row([
                code(&it.metric),
                it.arm.as_str().into(),
                summary.n.to_string().into(),
                show(summary.mean).into(),
                interval.unwrap_or_else(|| "undefined: one sample".to_owned()).into(),
                summary
                    .spread
                    .map_or_else(|| "undefined".to_owned(), |it| minus(unit.show_beside(it.sd, summary.mean)))
                    .into(),
                show(summary.median).into(),
                show(summary.min).into(),
                show(summary.max).into(),
            ]);
        }
    }
    table
}

/// `95.02 to 95.91 ms`, both ends in the unit in which the larger one reads best.
pub(super) fn between(unit: Unit, low: f64, high: f64) -> String {
    let shown = unit.readable(low.abs().max(high.abs()));
    let number = |it: f64| unit.show_in(shown, it);
    let name = if shown.name() == "1" { String::new() } else { format!(" {shown}") };
    format!("{} to {}{name}", number(low), number(high))
}

/// Everything that is known of one hypothesis, a line a statistic.
///
/// Without `normal` samples in both arms, the interval of d is an approximation.
pub(super) fn statistics(prereg: &Prereg, judged: &Judged, normal: bool) -> Table {
    let mut table = Table::new([("statistic", Align::Left), ("value", Align::Left)]);
    let level = 1.0 - prereg.decision.alpha;
    let percents = format!("{} %", percent(level));
    let mut put = |name: &str, value: String| {
        table.row([name.into(), value.into()]);
    };
    let comparison = &judged.comparison;
    let unit = comparison.unit;
    let statistics = match &comparison.statistics {
        Ok(it) => it,
        Err(undefined) => {
            put("all", undefined.to_string());
            return table;
        }
    };
    for (arm, moments) in
        [(&comparison.control, &statistics.control), (&comparison.treatment, &statistics.treatment)]
    {
        let (mean, sd) = (unit.show(moments.mean()), unit.show_beside(moments.sd(), moments.mean()));
        put(&format!("mean ± SD of {arm}"), minus(format!("{mean} ± {sd} (n = {})", moments.n())));
    }
    let difference = statistics.welch.difference;
    put(
        &format!("difference of the means, {percents}"),
        match statistics.welch.interval(level) {
            Ok(Some(it)) => {
                minus(format!("{} [{}]", unit.show(difference), between(unit, it.lower, it.upper)))
            }
            _ => minus(format!("{} (neither arm varies)", unit.show(difference))),
        },
    );
    put(
        &match &judged.gain {
            Ok(gain) => format!(
                "gain, {} % interval ({}), which decides",
                percent(gain.interval.level),
                judged.interval_method()
            ),
            Err(_) => "gain".to_owned(),
        },
        judged.gain_text(),
    );
    put(
        "ratio control : treatment",
        comparison.times().map_or_else(|| "undefined".to_owned(), |it| format!("{} : 1", significant(it, 4))),
    );
    put(
        "Welch's t",
        statistics.welch.test.map_or_else(
            || "undefined: neither arm varies".to_owned(),
            |it| {
                let (t, df) = (significant(it.t, 4), significant(it.df, 4));
                minus(format!("t = {t}, df = {df}, p = {} (two-sided)", it.p.two_sided))
            },
        ),
    );
    put(&format!("p that decides ({}), adjusted for the family", judged.method), p_text(&judged.p_adjusted));
    put(
        &format!(
            "Cohen's d, {percents} (Bonett{})",
            if normal { "" } else { "; approximate, as an arm is not normal" }
        ),
        statistics.effect.standardized.as_ref().map_or_else(
            || "undefined: neither arm varies".to_owned(),
            |it| with_range(it.cohens_d, it.bonett_interval(level)),
        ),
    );
    put(
        &format!("Cliff's δ, {percents} (Newcombe)"),
        with_range(statistics.delta.delta, statistics.delta.newcombe_interval(level)),
    );
    let u = &statistics.mann_whitney;
    let method = u.method.code();
    put("Mann-Whitney", format!("U = {}, p = {} ({method}, two-sided)", u.u_treatment, p(u.p.two_sided)));
    table
}

/// Every metric and cell, whether something was registered of it or not.
pub(super) fn comparisons(prereg: &Prereg, run: &RecordedRun) -> Table {
    let mut table = Table::new([
        ("metric", Align::Left),
        ("cell", Align::Left),
        ("arms", Align::Left),
        ("gain, 95 %", Align::Left),
        ("control : treatment", Align::Right),
        ("p (Welch)", Align::Right),
        ("p (Mann-Whitney)", Align::Right),
        ("d", Align::Right),
        ("δ", Align::Right),
        ("registered", Align::Left),
    ]);
    for it in &run.analysis.comparisons {
        let mut row: Vec<Inline> = vec![
            code(&it.metric),
            it.cell.as_str().into(),
            format!("{} against {}", it.treatment, it.control).into(),
            gain_95(it).into(),
            it.times().map_or_else(|| "undefined".to_owned(), |it| significant(it, 4)).into(),
        ];
        match &it.statistics {
            Ok(statistics) => row.extend([
                statistics.welch.test.map_or_else(|| "undefined".to_owned(), |it| p(it.p.two_sided)).into(),
                p(statistics.mann_whitney.p.two_sided).into(),
                statistics
                    .cohens_d()
                    .map_or_else(|_| "undefined".to_owned(), |it| minus(significant(it, 3)))
                    .into(),
                Inline::from(minus(format!("{:.2}", statistics.delta.delta))),
            ]),
            Err(_) => row.extend(["undefined", "undefined", "undefined", "undefined"].map(Inline::from)),
        }
        row.push(registered(prereg, it).into());
        table.row(row);
    }
    table
}

/// The relative gain with its 95 % interval, or why there is none.
pub fn gain_95(comparison: &Comparison) -> String {
    match comparison.relative_gain(0.95) {
        Ok(gain) => gain_text(&gain, Margin::Relative(0.0), comparison.unit),
        Err(undefined) => undefined.to_string(),
    }
}

fn registered(prereg: &Prereg, comparison: &Comparison) -> &'static str {
    let cells = prereg.cells();
    let Some(cell) = cells.iter().find(|it| it.to_string() == comparison.cell) else { return "" };
    let about = |metric: &str, condition: &[(String, Scalar)], contrast: &Contrast| {
        metric == comparison.metric
            && cell.matches(condition)
            && (&contrast.treatment, &contrast.control) == (&comparison.treatment, &comparison.control)
    };
    let claimed = prereg.hypotheses.iter().any(|it| about(&it.metric, &it.condition, &it.contrast));
    let guarded = prereg.guards.iter().any(|it| about(&it.metric, &it.condition, &it.contrast));
    match (claimed, guarded) {
        (true, _) => "hypothesis",
        (false, true) => "guard",
        (false, false) => "no, exploratory",
    }
}

pub(super) fn p(value: PValue) -> String {
    minus(value.to_string())
}

fn p_text(value: &Result<PValue, Undefined>) -> String {
    match value {
        Ok(it) => p(*it),
        Err(undefined) => undefined.to_string(),
    }
}

/// A number with its interval, to the digits that the interval supports.
fn with_range(value: f64, interval: Result<Interval, StatsError>) -> String {
    match interval {
        Ok(it) => {
            let [value, low, high] = with_interval(value, it.lower, it.upper);
            format!("{value} [{low}, {high}]")
        }
        Err(error) => minus(format!("{} (no interval: {error})", significant(value, 4))),
    }
}
