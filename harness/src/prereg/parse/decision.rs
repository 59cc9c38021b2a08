use crate::prereg::table::{Item, Table};
use crate::prereg::{Environment, Rule, keys};
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
    Some(Rule {
        alpha: alpha?,
        test: test?,
        correction: correction?,
        agreement: agreement?,
        labels: labels?,
        noise_margin: noise_margin?,
    })
}

pub(super) fn environment(root: &Table<'_>) -> Option<Environment> {
    let table = root.section_or_empty("environment", Some(keys::ENVIRONMENT))?;
    let max_load = table.maybe("max_load", |it| within(&it, "a number above 0", |load| load > 0.0));
    Some(Environment { max_load: max_load? })
}

fn within(item: &Item<'_>, expected: &str, accepts: impl Fn(f64) -> bool) -> Option<f64> {
    let number = item.number()?;
    if accepts(number) { Some(number) } else { item.wrong(expected) }
}
