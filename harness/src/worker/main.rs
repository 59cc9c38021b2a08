use super::protocol::{self, Answer, Prepare, Request};
use super::{Error, Params, Prepared, Result, Sample, Setup, System};
use crate::vocab::{Scalar, Unit};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// Serves the protocol on standard input and output with these systems: the body of a worker's `main`.
///
/// Ends with success after `finish` or at the end of the input. After an error it has answered, it ends with
/// failure, since the run is invalid.
pub fn main(systems: &[&dyn System]) -> ExitCode {
    match serve(systems, io::stdin().lock(), io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        // The driver has the message, or is gone.
        Ok(false) | Err(_) => ExitCode::FAILURE,
    }
}

/// Whether all requests could be answered.
fn serve(systems: &[&dyn System], input: impl BufRead, mut output: impl Write) -> io::Result<bool> {
    let mut session = Session { systems, ready: None };
    for line in input.lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(request) => session.answer(request),
            Err(error) => Err(Error::context("request is not understood")(error)),
        };
        let (answer, end) = match answer {
            Ok(answer) => {
                let end = matches!(answer, Answer::Bye {});
                (answer, end.then_some(true))
            }
            Err(error) => (Answer::Error { message: error.to_string() }, Some(false)),
        };
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
        if let Some(well) = end {
            return Ok(well);
        }
    }
    Ok(true)
}

struct Session<'a> {
    systems: &'a [&'a dyn System],
    ready: Option<(Setup, Box<dyn Prepared>)>,
}

impl<'a> Session<'a> {
    fn system(&self, name: &str) -> Result<&'a dyn System> {
        self.systems.iter().copied().find(|it| it.name() == name).ok_or_else(|| {
            let known: Vec<_> = self.systems.iter().map(|it| it.name()).collect();
            Error::new(format!("no system `{name}` here, known are {}", known.join(", ")))
        })
    }

    fn answer(&mut self, request: Request) -> Result<Answer> {
        match request {
            Request::Hello { protocol: protocol::VERSION } => Ok(Answer::Hello {
                protocol: protocol::VERSION,
                systems: self.systems.iter().map(|it| it.name().to_owned()).collect(),
                checks: true,
                build: build(),
            }),
            Request::Hello { protocol } => Err(Error::new(format!(
                "the driver speaks protocol {protocol}, this worker {}",
                protocol::VERSION
            ))),
            Request::Check(prepare) => {
                let setup = setup(prepare)?;
                self.system(&setup.system)?.check(&setup)?;
                Ok(Answer::Fit {})
            }
            Request::Prepare(prepare) => {
                let setup = setup(prepare)?;
                let prepared = self.system(&setup.system)?.prepare(&setup)?;
                let effective = setup.params.effective();
                self.ready = Some((setup, prepared));
                Ok(Answer::Ready { effective })
            }
            Request::Sample { block, warmup } => {
                let (setup, prepared) = self
                    .ready
                    .as_mut()
                    .ok_or_else(|| Error::new("a sample was asked for before `prepare`"))?;
                let mut sample = Sample::new(block, warmup, setup.clock, setup.metrics.clone());
                prepared.sample(&mut sample)?;
                let (values, digest) = sample.finish()?;
                let values = values.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
                Ok(Answer::Sample { values, digest })
            }
            Request::Finish {} => Ok(Answer::Bye {}),
        }
    }
}

fn setup(prepare: Prepare) -> Result<Setup> {
    let mut params = Vec::new();
    for (name, value) in prepare.params {
        let scalar = Scalar::from_json(&value).ok_or_else(|| {
            Error::new(format!("parameter `{name}` is `{value}`, expected text, number or boolean"))
        })?;
        params.push((name, scalar));
    }
    let mut metrics = Vec::new();
    for (name, unit) in prepare.metrics {
        let unit = Unit::parse(&unit).map_err(Error::context(format!("metric `{name}`")))?;
        metrics.push((name, unit));
    }
    Ok(Setup {
        system: prepare.system,
        params: Params::new(params),
        seed: prepare.seed,
        scratch: prepare.scratch.into(),
        clock: prepare.clock.parse().map_err(Error::context("clock"))?,
        metrics,
    })
}

fn build() -> BTreeMap<String, Value> {
    BTreeMap::from([
        ("profile".to_owned(), if cfg!(debug_assertions) { "debug" } else { "release" }.into()),
        ("harness".to_owned(), env!("CARGO_PKG_VERSION").into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Doubling;
    impl System for Doubling {
        fn name(&self) -> &'static str {
            "doubling"
        }
        fn check(&self, setup: &Setup) -> Result<()> {
            let by: f64 = setup.params.get("by")?;
            if by < 0.0 { Err(Error::new("nothing here to halve with")) } else { Ok(()) }
        }
        fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>> {
            Ok(Box::new(Double(setup.params.get("by")?)))
        }
    }
    struct Double(f64);
    impl Prepared for Double {
        fn sample(&mut self, sample: &mut Sample) -> Result<()> {
            sample.value("x", self.0 * f64::from(sample.block));
            sample.answer(&sample.block.is_multiple_of(2));
            Ok(())
        }
    }

    #[track_caller]
    fn check(input: &str, expected: &str) {
        let mut output = Vec::new();
        serve(&[&Doubling], input.as_bytes(), &mut output).unwrap();
        assert_eq!(String::from_utf8(output).unwrap().trim_end(), expected);
    }

    #[test]
    fn a_whole_conversation() {
        check(
            concat!(
                r#"{"prepare":{"system":"doubling","params":{"by":2.5,"unread":1},"seed":1,"scratch":"s","metrics":{"x":"1"}}}"#,
                "\n",
                r#"{"sample":{"block":2,"warmup":false}}"#,
                "\n",
                r#"{"finish":{}}"#,
                "\n",
                "never read\n",
            ),
            concat!(
                r#"{"ready":{"effective":{"by":2.5}}}"#,
                "\n",
                r#"{"sample":{"values":{"x":5.0},"digest":"af63bc4c8601b62c"}}"#,
                "\n",
                r#"{"bye":{}}"#,
            ),
        );
    }

    #[test]
    fn what_the_host_lacks_is_said_before_anything_is_prepared() {
        let ask = |by: f64| {
            format!(r#"{{"check":{{"system":"doubling","params":{{"by":{by}}},"seed":1,"scratch":"s"}}}}"#)
        };
        check(&ask(2.5), r#"{"fit":{}}"#);
        check(&ask(-1.0), r#"{"error":{"message":"nothing here to halve with"}}"#);
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        check(
            r#"{"hello":{"protocol":9}}"#,
            r#"{"error":{"message":"the driver speaks protocol 9, this worker 1"}}"#,
        );
        check(
            r#"{"sample":{"block":0,"warmup":true}}"#,
            r#"{"error":{"message":"a sample was asked for before `prepare`"}}"#,
        );
        check(
            r#"{"prepare":{"system":"tripling","params":{},"seed":1,"scratch":""}}"#,
            r#"{"error":{"message":"no system `tripling` here, known are doubling"}}"#,
        );
        check(
            "nonsense",
            r#"{"error":{"message":"request is not understood: expected value at line 1 column 1"}}"#,
        );
    }
}
