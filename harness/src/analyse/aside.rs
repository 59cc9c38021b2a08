//! Blocks that broke the registered rule, as the run's events tell.

use crate::store::RunData;
use serde_json::Value;
use std::collections::BTreeSet;

/// A block whose samples do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// The cell; may be empty.
    pub cell: String,
    /// The block.
    pub block: u32,
    /// The step of the plan that measured it; runs of before this was kept have none.
    pub step: Option<u64>,
    /// Which attempt at it, from 1.
    pub attempt: u32,
    /// Whether it is excluded for good; else it was measured again.
    pub excluded: bool,
    /// What was broken.
    pub reasons: Vec<String>,
    /// The arms that were measured in it.
    pub arms: BTreeSet<String>,
}

/// Every block that was set aside, in the order in which they were measured.
pub fn set_aside(run: &RunData) -> Vec<SetAside> {
    run.events.iter().filter_map(|it| read(it.detail.as_ref()?.get("block")?)).collect()
}

fn read(block: &Value) -> Option<SetAside> {
    let number = |key: &str| block.get(key)?.as_u64().and_then(|it| u32::try_from(it).ok());
    let texts = |value: Option<&Value>, key: &str| -> Vec<String> {
        let all = value.and_then(Value::as_array).into_iter().flatten();
        let text =
            |it: &Value| if key.is_empty() { it.as_str() } else { it.get(key)?.as_str() }.map(str::to_owned);
        all.filter_map(text).collect()
    };
    Some(SetAside {
        cell: block.get("cell")?.as_str()?.to_owned(),
        block: number("block")?,
        step: block.get("step").and_then(Value::as_u64),
        attempt: number("attempt")?,
        excluded: block.get("then")?.as_str()? == "exclude",
        reasons: texts(block.get("reasons"), ""),
        arms: texts(block.get("samples"), "arm").into_iter().collect(),
    })
}

/// The numbers of excluded blocks of a cell.
pub(super) fn excluded(aside: &[SetAside], cell: &str) -> BTreeSet<u32> {
    aside.iter().filter(|it| it.excluded && it.cell == cell).map(|it| it.block).collect()
}
