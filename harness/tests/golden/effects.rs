//! Effect sizes and corrections of p-values.

use harness::stats::{Correction, Interval, Magnitude, PValue, cliffs_delta, effect_size_of_moments};
use serde_json::{Map, Value, json};

use super::support::{num, number, opt, run};

fn ends(interval: Interval) -> Value {
    json!([num(interval.lower), num(interval.upper)])
}

#[test]
fn effect_size() {
    // The approximation of the Hedges factor is there to compare with the exact one.
    run("effect_size", 73, &["hedges_J_approx"], |input| {
        let found = effect_size_of_moments(&input.moments("x")?, &input.moments("y")?);
        let Some(effect) = found.standardized else {
            return Ok(json!({ "status": found.status.code(), "cohens_d": null }));
        };
        let mut fields = json!({
            "pooled_sd": num(found.pooled_sd), "cohens_d": num(effect.cohens_d),
            "label": Magnitude::of_d(effect.cohens_d).label(),
            "hedges_J": num(effect.hedges_factor), "hedges_g": num(effect.hedges_g),
            "glass_delta": opt(effect.glass_delta), "d_av": num(effect.average_d),
            "var_g_large_sample": num(effect.hedges_variance()),
            "g_ci95_normal": ends(effect.hedges_interval(0.95)?),
            "d_av_ci95_bonett": ends(effect.bonett_interval(0.95)?),
        });
        if input.expects("d_ci95_nct") {
            let interval = effect.noncentral_interval(0.95)?;
            fields["d_ci95_nct"] = ends(interval);
            fields["g_ci95_nct"] = json!([
                num(effect.hedges_factor * interval.lower),
                num(effect.hedges_factor * interval.upper)
            ]);
        }
        Ok(fields)
    });
}

#[test]
fn cliffs_delta_and_its_intervals() {
    run("cliffs_delta", 44, &[], |input| {
        let found = cliffs_delta(&input.sample("x")?, &input.sample("y")?);
        let varies = found.delta.abs() < 1.0;
        Ok(json!({
            "wins": found.wins, "losses": found.losses, "ties": found.ties,
            "delta": num(found.delta), "a12": num(found.a12), "label": found.magnitude().label(),
            "ci95_newcombe": ends(found.newcombe_interval(0.95)?),
            "var_consistent": opt(found.consistent_variance()),
            "ci95_cliff_consistent_z": found.cliff_interval(0.95)?.map(ends),
            "var_unbiased": opt(found.unbiased_variance().filter(|_| varies)),
            "ci95_cliff_unbiased_t": found.unbiased_interval(0.95)?.map(ends),
        }))
    });
}

#[test]
fn multiplicity() {
    run("multiplicity", 12, &[], |input| {
        let given = input.get("p").as_array().expect("an array");
        // `null` stands for a number below the smallest normal one.
        let p = |value: &Value| if value.is_null() { 1e-310 } else { number(value) };
        let family = given.iter().map(|value| PValue::new(p(value))).collect::<Result<Vec<_>, _>>()?;
        let mut fields = Map::new();
        for correction in [
            Correction::Bonferroni,
            Correction::Holm,
            Correction::Hochberg,
            Correction::BenjaminiHochberg,
            Correction::BenjaminiYekutieli,
        ] {
            let adjusted = correction
                .adjust(&family)
                .into_iter()
                .map(|p| if 0.0 < p.value() && p.value() < 2.3e-308 { Value::Null } else { num(p.value()) });
            fields.insert(correction.code().to_owned(), adjusted.collect());
        }
        Ok(Value::Object(fields))
    });
}
