use super::protocol::{self, Answer, Prepare, Request};
use super::{Error, Result, Setup};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

/// Makes one sample of `system` in a fresh process of the same worker and returns its value of `metric`, in
/// the metric's unit, and its digest.
///
/// For quantities that a process can show only once: resident memory above all. The child inherits the
/// process group, so a time-out of the driver ends it as well.
pub fn in_fresh_process(system: &str, setup: &Setup, metric: &str) -> Result<(f64, String)> {
    let program =
        std::env::current_exe().map_err(Error::context("failed to find the worker's own program"))?;
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(Error::context("failed to start a fresh worker"))?;
    let result = converse(&mut child, system, setup, metric);
    if result.is_err() {
        // Already failing: whether it still runs is of no interest, and its end must not be waited for.
        let _ = child.kill();
    }
    let status = child.wait().map_err(Error::context("failed to wait for a fresh worker"))?;
    match result {
        Ok(_) if !status.success() => Err(Error::new(format!("a fresh worker ended with {status}"))),
        result => result,
    }
}

fn converse(child: &mut Child, system: &str, setup: &Setup, metric: &str) -> Result<(f64, String)> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Error::new("a fresh worker has no pipes"));
    };
    let mut output = BufReader::new(output);
    let mut ask = |request: &Request| -> Result<Answer> {
        let mut line = serde_json::to_string(request).map_err(Error::context("request"))?;
        line.push('\n');
        input.write_all(line.as_bytes()).map_err(Error::context("failed to write to a fresh worker"))?;
        line.clear();
        output.read_line(&mut line).map_err(Error::context("failed to read from a fresh worker"))?;
        match serde_json::from_str(&line) {
            Ok(Answer::Error { message }) => Err(Error::new(format!("in a fresh process: {message}"))),
            Ok(answer) => Ok(answer),
            Err(error) => {
                Err(Error::context(format!("a fresh worker answered `{}`", line.trim_end()))(error))
            }
        }
    };
    ask(&Request::Hello { protocol: protocol::VERSION })?;
    ask(&Request::Prepare(Prepare {
        system: system.to_owned(),
        params: setup.params.all().iter().map(|(name, value)| (name.clone(), value.to_json())).collect(),
        seed: setup.seed,
        scratch: setup.scratch.display().to_string(),
        clock: setup.clock.to_string(),
        metrics: setup.metrics.iter().map(|(name, unit)| (name.clone(), unit.to_string())).collect(),
    }))?;
    let Answer::Sample { values, digest } = ask(&Request::Sample { block: 0, warmup: false })? else {
        return Err(Error::new("a fresh worker gave no sample"));
    };
    ask(&Request::Finish {})?;
    let value = values.get(metric).and_then(serde_json::Value::as_f64);
    let value = value.ok_or_else(|| Error::new(format!("a fresh worker gave no value of `{metric}`")))?;
    Ok((value, digest))
}
