//! Series over time and looks at any time.

use harness::stats::{
    StatsError, change_points, mean_interval_anytime, pettitt, quantile_ranks_anytime, sign_stream,
    warm_up_length,
};
use serde_json::json;

use super::support::{num, run};

#[test]
fn changes_and_warm_up() {
    run("changepoint", 6, &[], |input| {
        let series = input.sample("x")?;
        let found = change_points(&series, input.number("pen_factor"))?;
        let single = pettitt(&series)?;
        Ok(json!({
            "sigma": num(found.sigma), "penalty": num(found.penalty), "changepoints": found.starts,
            "objective": num(found.objective), "pettitt_k": single.k, "pettitt_t": single.before,
            "pettitt_p": num(single.p.value()), "mser5_truncate": warm_up_length(&series)?,
        }))
    });
}

#[test]
fn sequential() {
    run("sequential", 19, &[], |input| {
        let alpha = input.number("alpha");
        Ok(match input.text("fn") {
            "sign_eprocess" => {
                // Here a win is a truth value; what the file has beside 0 and 1 has no spelling.
                let win = |value: f64| match value {
                    0.0 => Ok(false),
                    1.0 => Ok(true),
                    _ => Err(StatsError::InvalidInput("a pair is won or lost")),
                };
                let wins = input.values("wins").into_iter().map(win).collect::<Result<Vec<_>, _>>()?;
                let found = sign_stream(&wins, alpha)?;
                let process = found.process;
                let interval = process.win_interval(alpha)?;
                json!({
                    "n": process.n(), "k": process.wins(),
                    "ln_e_two_sided": num(process.ln_two_sided()), "ln_e_better": num(process.ln_better()),
                    "max_ln_e_two_sided": num(process.max_ln_two_sided()),
                    "max_ln_e_better": num(process.max_ln_better()),
                    "p_anytime_two_sided": num(process.p_two_sided().value()),
                    "p_anytime_better": num(process.p_better().value()),
                    "stop_at_two_sided": found.stop_two_sided, "stop_at_better": found.stop_better,
                    "win_prob_cs": [num(interval.lower), num(interval.upper)],
                })
            }
            "quantile_cs" => {
                let found = quantile_ranks_anytime(input.number("q"), input.size("n"), alpha)?;
                json!({
                    "k_lo": found.fewest_below, "k_hi": found.most_below,
                    "lower_rank": found.lower, "upper_rank": found.upper,
                })
            }
            "asymp_mean_cs" => {
                let interval = mean_interval_anytime(&input.sample("x")?, alpha, input.size("n_star"))?;
                let doubt = -2.0 * alpha.ln();
                json!({
                    "rho2": num((doubt + (doubt + 1.0).ln()) / input.number("n_star")),
                    "mean": num(0.5 * (interval.lower + interval.upper)),
                    "asymp_cs_halfwidth": num(0.5 * interval.width()),
                    "cs": [num(interval.lower), num(interval.upper)],
                })
            }
            other => panic!("no function `{other}`"),
        })
    });
}
