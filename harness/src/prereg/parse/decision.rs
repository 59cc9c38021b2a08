use crate::prereg::table::{Item, Table};
use crate::prereg::{Rule, Thresholds, keys};
use crate::vocab::{Agreement, Correction, Labels, Test};

pub(super) fn rule(root: &Table<'_>) -> Option<Rule> {
    let table = root.section_or_empty("decision", Some(keys::DECISION))?;
    let alpha = table.or("alpha", 0.05, |it| {
        let expected = "a number above 0 and at most 0.5";
        within(&it, expected, |alpha| alpha > 0.0 && alpha <= 0.5)
    });
    let test = table.or("test", Test::Welch, |it| it.word());
    let correction = table.or("correction", Correction::Holm, |it| it.word());
    let agreement = table.or("agreement", Agreement::Report, |it| it.word());
    let labels = table.or("labels", Labels::AcceptReject, |it| it.word());
    let noise_margin = table.or("noise_margin", 0.05, |it| {
        within(&it, "a share of the control's mean from 0 to 1", |share| (0.0..=1.0).contains(&share))
    });
    let thresholds = match table.get("thresholds") {
        Some(item) => thresholds(&item, labels).map(Some),
        None if labels == Some(Labels::GoNogo) => {
            table.report.help(
                table.at_key("labels"),
                "labels `go-nogo` need thresholds, and there is no [decision.thresholds]",
                Some("`go = 0.01` is a gain of 1 %, `strong_go = 0.03` one of 3 %".to_owned()),
            );
            None
        }
        None => Some(None),
    };
    Some(Rule {
        alpha: alpha?,
        test: test?,
        correction: correction?,
        agreement: agreement?,
        labels: labels?,
        thresholds: thresholds?,
        noise_margin: noise_margin?,
    })
}

fn thresholds(item: &Item<'_>, labels: Option<Labels>) -> Option<Thresholds> {
    let table = item.table("in [decision.thresholds]".to_owned(), Some(keys::THRESHOLDS))?;
    let share = |it: &Item<'_>| within(it, "a gain of at least 0, as a share", |it| it >= 0.0);
    let (go, strong_go) = (table.need("go"), table.need("strong_go"));
    let (low, high) = (go.as_ref().and_then(share), strong_go.as_ref().and_then(share));
    let neutral = table.maybe("neutral", |it| share(&it));
    if labels == Some(Labels::AcceptReject) {
        let hint = Some("set `labels = \"go-nogo\"` in [decision]".to_owned());
        return item.problem("[decision.thresholds] are those of labels `go-nogo`", hint);
    }
    let (go, high) = (low?, high?);
    if high <= go {
        return strong_go?.wrong("a gain above that of `go`");
    }
    // A gain in the band is too small to go, so the band ends where GO begins.
    let neutral = neutral?.unwrap_or(go);
    if neutral > go {
        return table.get("neutral")?.wrong("a gain of at most that of `go`");
    }
    Some(Thresholds { go, strong_go: high, neutral })
}

fn within(item: &Item<'_>, expected: &str, accepts: impl Fn(f64) -> bool) -> Option<f64> {
    let number = item.number()?;
    if accepts(number) { Some(number) } else { item.wrong(expected) }
}
