//! Power, sample size and planned looks.

use harness::stats::{Design, Look, PValue, Sides, Spending, group_sequential};
use serde_json::json;

use super::support::{num, number, opt, run};

#[test]
fn power() {
    run("power", 25, &[], |input| {
        let design = Design {
            sd_treatment: input.number("sd_x"),
            sd_control: input.number("sd_y"),
            alpha: input.number("alpha"),
            two_sided: input.number("sides") == 2.0,
        };
        Ok(match input.text("fn") {
            "power" => {
                let found = design.power(input.number("delta"), input.size("n_x"), input.size("n_y"))?;
                json!({ "power": num(found.power), "df": num(found.df), "ncp": num(found.noncentrality) })
            }
            "sample_size" => {
                let n = design.needed_n(input.number("delta"), input.number("power"))?;
                let achieved = design.power(input.number("delta"), n, n)?;
                json!({ "n_per_arm": n, "achieved_power": num(achieved.power) })
            }
            "mde" => {
                let found = design.detectable(input.number("power"), input.size("n_x"), input.size("n_y"))?;
                json!({ "mde": num(found) })
            }
            other => panic!("no function `{other}`"),
        })
    });
}

#[test]
fn looks() {
    run("group_sequential", 40, &[], |input| {
        let spending = match input.text("spending") {
            "pocock" => Spending::Pocock,
            "obrien-fleming" => Spending::OBrienFleming,
            other => panic!("no spending function `{other}`"),
        };
        assert_eq!(spending.code(), input.text("spending"));
        let sides = if input.number("sides") == 2.0 { Sides::Two } else { Sides::One };
        let fractions: Vec<f64> =
            input.get("fractions").as_array().expect("fractions").iter().map(number).collect();
        let plan = group_sequential(&fractions, input.number("alpha"), sides, spending)?;
        let each = |f: &dyn Fn(&Look) -> serde_json::Value| plan.looks.iter().map(f).collect::<Vec<_>>();
        Ok(json!({
            "z": each(&|look| opt(look.z)), "spent": each(&|look| num(look.spent)),
            "p": each(&|look| opt(look.p.map(PValue::value))),
        }))
    });
}
