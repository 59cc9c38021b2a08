//! Power and sample size.

use harness::stats::Design;
use serde_json::json;

use super::support::{num, run};

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
