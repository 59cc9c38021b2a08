//! The one text of a pre-registration, its digest and its JSON.
//!
//! Keys stand in a fixed order and defaults are written out. Parameters, variables and conditions are sorted
//! by name; arms, metrics, hypotheses and the values of a sweep keep the order of the file. A number is in its
//! shortest form that reads back as the same number, a unit in its first spelling, a contrast named.
//!
//! **Rule.** The keys of format 1 are always written. A key that a later version adds is written only when
//! its value differs from its default, so the digest of an older registration never changes.

use super::node::{Node, named};
use super::{
    Arm, Commands, Contrast, FORMAT, Factorial, Guard, Hypothesis, Launch, Looks, Output, Pin, Prereg,
    Schedule, Stopping, WorkResult,
};
use crate::probe::Probe;
use crate::vocab::{Digest, Margin, Mode, Nature, Scalar};
use std::time::Duration;

impl Prereg {
    /// The canonical text: TOML that [`parse_canonical`](super::parse_canonical) turns into the same value.
    pub fn canonical(&self) -> String {
        self.node().to_toml()
    }

    /// The identity of what is registered: SHA-256 of the [canonical text](Prereg::canonical).
    pub fn digest(&self) -> Digest {
        Digest::of(self.canonical())
    }

    /// The canonical text's structure in JSON. Lists that are empty are written too.
    pub fn to_json(&self) -> serde_json::Value {
        self.node().to_json()
    }

    fn node(&self) -> Node {
        let mut root = vec![
            ("format".to_owned(), Node::Int(FORMAT)),
            ("id".to_owned(), Node::text(&self.id)),
            ("title".to_owned(), Node::text(&self.title)),
            ("ledger".to_owned(), Node::text(&self.ledger)),
            ("order".to_owned(), Node::Int(self.order)),
            ("claim".to_owned(), Node::text(&self.claim)),
            ("changes".to_owned(), Node::texts(&self.changes)),
        ];
        root.extend(self.baseline.iter().map(|it| ("baseline".to_owned(), Node::text(it))));
        root.extend(named([self.worker_node(), ("params", self.params_node())]));
        root.extend(self.factors.iter().map(|it| ("factors".to_owned(), factors(it))));
        root.extend(named([
            (
                "arms",
                Node::Section(self.arms.iter().map(|it| (it.name.clone(), self.arm_node(it))).collect()),
            ),
            ("design", self.design_node()),
            ("metrics", self.metrics_node()),
            ("hypotheses", Node::Sections(self.hypotheses.iter().map(hypothesis).collect())),
            ("guards", Node::Sections(self.guards.iter().map(guard).collect())),
            ("decision", self.decision_node()),
            ("environment", self.environment_node()),
        ]));
        let reference = self.reference.as_ref().map(|it| named([("reference", Node::text(it))]));
        root.extend(reference.map(|it| ("report".to_owned(), Node::Section(it))));
        Node::Section(root)
    }

    fn worker_node(&self) -> (&'static str, Node) {
        let timeout = ("timeout", Node::Text(duration(self.worker.timeout)));
        let launch = match &self.worker.launch {
            Launch::Package(package) => ("package", Node::text(&package.name)),
            Launch::Command(command) => ("command", Node::texts(command)),
            Launch::Plain(it) => {
                let keys = commands(it).into_iter().chain([timeout]);
                return ("commands", Node::Section(named(keys)));
            }
        };
        let system = ("system", Node::text(&self.worker.system));
        let mut keys = named([launch]);
        // Keys that came later stand there only when they are given: older registrations keep their digest.
        if let Launch::Package(package) = &self.worker.launch {
            let features =
                (!package.features.is_empty()).then(|| ("features", Node::texts(&package.features)));
            let profile = package.profile.as_ref().map(|it| ("profile", Node::text(it)));
            keys.extend(named(features.into_iter().chain(profile)));
        }
        keys.extend(named([system, timeout]));
        ("worker", Node::Section(keys))
    }

    fn params_node(&self) -> Node {
        let params = sorted(&self.params).into_iter().map(|(name, values)| {
            let node = match values.as_slice() {
                [value] => scalar(value),
                values => Node::List(values.iter().map(scalar).collect()),
            };
            (name.clone(), node)
        });
        Node::Section(params.collect())
    }

    fn design_node(&self) -> Node {
        let it = &self.design;
        let mut keys = named([
            ("warmups", Node::Int(it.warmups.into())),
            ("samples", Node::Int(it.samples.into())),
            ("order", Node::text(it.order.as_str())),
            ("process", Node::text(it.process.as_str())),
            ("clock", Node::text(it.clock.as_str())),
            ("seed", Node::Whole(it.seed)),
        ]);
        // With builds there are as many processes.
        let processes = if it.builds > 1 { 1 } else { it.processes };
        let added = [("slices", it.slices), ("processes", processes), ("builds", it.builds)];
        let given = added.into_iter().filter(|(_, count)| *count != 1);
        keys.extend(named(given.map(|(name, count)| (name, Node::Int(count.into())))));
        let mode = (it.mode != Mode::Turns).then(|| ("mode", Node::text(it.mode.as_str())));
        keys.extend(named(mode));
        let padding = (it.padding != 0).then(|| ("padding", Node::Int(it.padding.into())));
        keys.extend(named(padding));
        keys.extend(named(it.looks.as_ref().map(|it| ("looks", looks(it)))));
        Node::Section(keys)
    }

    fn metrics_node(&self) -> Node {
        let metrics = self.metrics.iter().map(|it| {
            let unit = ("unit", Node::text(it.unit.name()));
            let better = ("better", Node::text(it.better.as_str()));
            let mut keys = named([unit, better]);
            keys.extend(named(it.probe.as_ref().map(|it| ("probe", probe(it)))));
            if it.nature != Nature::Measured {
                keys.extend(named([("nature", Node::text(it.nature.as_str()))]));
            }
            (it.name.clone(), Node::Section(keys))
        });
        Node::Section(metrics.collect())
    }

    fn decision_node(&self) -> Node {
        let it = &self.decision;
        let mut keys = named([
            ("alpha", Node::Float(it.alpha)),
            ("test", Node::text(it.test.as_str())),
            ("correction", Node::text(it.correction.as_str())),
            ("agreement", Node::text(it.agreement.as_str())),
            ("labels", Node::text(it.labels.as_str())),
            ("noise_margin", Node::Float(it.noise_margin)),
        ]);
        let thresholds = it.thresholds.map(|it| {
            Node::Section(named([
                ("go", Node::Float(it.go)),
                ("strong_go", Node::Float(it.strong_go)),
                ("neutral", Node::Float(it.neutral)),
            ]))
        });
        keys.extend(thresholds.map(|it| ("thresholds".to_owned(), it)));
        Node::Section(keys)
    }

    fn environment_node(&self) -> Node {
        let it = &self.environment;
        let limit = |name, limit: Option<f64>| limit.map(|it| (name, Node::Float(it)));
        let pin = it.pin.as_ref().map(|it| match it {
            Pin::One => Node::Bool(true),
            Pin::Cores(cores) => Node::List(cores.iter().map(|it| Node::Int(i64::from(*it))).collect()),
        });
        let blocks = it.blocks.map(|it| {
            let limits = [
                limit("max_load", it.max_load),
                limit("max_steal", it.max_steal),
                limit("max_pressure", it.max_pressure),
                Some(("then", Node::text(it.then.as_str()))),
            ];
            ("blocks", Node::Section(named(limits.into_iter().flatten())))
        });
        let keys = [
            limit("max_load", it.max_load),
            limit("max_steal", it.max_steal),
            limit("max_pressure", it.max_pressure),
            it.governor.as_ref().map(|it| ("governor", Node::text(it))),
            pin.map(|it| ("pin", it)),
            blocks,
        ];
        Node::Section(named(keys.into_iter().flatten()))
    }

    fn arm_node(&self, it: &Arm) -> Node {
        let cell = self.factors.as_ref().and_then(|factors| Some((factors, factors.cell_of(it)?)));
        let levels = cell.map(|(factors, cell)| {
            let levels =
                factors.levels(cell).into_iter().map(|(name, level)| (name.to_owned(), Node::text(level)));
            ("levels", Node::Inline(levels.collect()))
        });
        arm(it, levels)
    }
}

fn commands(it: &Commands) -> Vec<(&'static str, Node)> {
    let mut keys = Vec::new();
    if !it.command.is_empty() {
        keys.push(("command", Node::texts(&it.command)));
    }
    keys.push(("shell", Node::Bool(it.shell)));
    keys.extend(it.dir.iter().map(|it| ("dir", Node::text(it))));
    keys.extend(it.stdin.iter().map(|it| ("stdin", Node::text(it))));
    keys.push(match &it.output {
        Output::Null => ("output", Node::text("null")),
        Output::Capture => ("output", Node::text("capture")),
        Output::File(file) => ("output", Node::Inline(named([("file", Node::text(file))]))),
    });
    keys.push(("capture_limit", Node::Int(it.capture_limit.into())));
    keys.push(match &it.result {
        WorkResult::Unchecked => ("result", Node::text("unchecked")),
        WorkResult::Stdout => ("result", Node::text("stdout")),
        WorkResult::Files(files) => ("result", Node::Inline(named([("files", Node::texts(files))]))),
    });
    let codes = it.exit_codes.iter().map(|it| Node::Int((*it).into()));
    keys.push(("exit_codes", Node::List(codes.collect())));
    for (key, steps) in [("before", &it.before), ("after", &it.after)] {
        let steps: Vec<_> = steps.each().map(|(key, it)| (key, Node::texts(it))).collect();
        if !steps.is_empty() {
            keys.push((key, Node::Inline(named(steps))));
        }
    }
    keys
}

fn probe(it: &Probe) -> Node {
    let (key, value) = match it {
        Probe::Gauge(gauge) => return Node::text(gauge.name),
        Probe::Hardware(event) => return Node::text(event.name),
        Probe::Instructions => return Node::text(Probe::INSTRUCTIONS),
        Probe::Bytes(files) => ("bytes", Node::texts(files)),
        Probe::Pattern(pattern) => ("pattern", Node::text(pattern)),
        Probe::Pointer(pointer) => ("pointer", Node::text(pointer)),
    };
    Node::Inline(named([(key, value)]))
}

fn looks(looks: &Looks) -> Node {
    let mut keys = vec![("method", Node::text(looks.stopping.method().as_str()))];
    keys.push(match &looks.schedule {
        Schedule::At(blocks) => ("at", Node::List(blocks.iter().map(|it| Node::Int((*it).into())).collect())),
        Schedule::Every(every) => ("every", Node::Int((*every).into())),
    });
    if let Stopping::GroupSequential(spending) = looks.stopping {
        keys.push(("spending", Node::text(spending.as_str())));
    }
    Node::Section(named(keys))
}

/// Levels by name only: what they set stands with the arms.
fn factors(it: &Factorial) -> Node {
    let factors = it.factors.iter().map(|it| (it.name.clone(), Node::texts(&it.levels)));
    Node::Section(factors.collect())
}

fn arm(arm: &Arm, levels: Option<(&'static str, Node)>) -> Node {
    let params = sorted(&arm.params).into_iter().map(|(name, value)| (name.clone(), scalar(value)));
    let env = sorted(&arm.env).into_iter().map(|(name, value)| (name.clone(), Node::text(value)));
    let mut keys = named([("role", Node::text(arm.role.as_str()))]);
    keys.extend(named(levels));
    keys.extend(named([("params", Node::Inline(params.collect())), ("env", Node::Inline(env.collect()))]));
    keys.extend(named(arm.command.as_ref().map(|it| ("command", Node::texts(it)))));
    keys.extend(named(arm.git.as_ref().map(|it| ("git", Node::text(it)))));
    keys.extend(named(arm.build.as_ref().map(|it| ("build", Node::texts(it)))));
    Node::Section(keys)
}

fn hypothesis(it: &Hypothesis) -> Node {
    let compared = match &it.effect {
        Some(effect) => vec![("contrast", Node::Text(effect.to_string()))],
        None => contrast(&it.contrast).into(),
    };
    let mut keys = named([
        ("id", Node::text(&it.id)),
        ("metric", Node::text(&it.metric)),
        ("where", condition(&it.condition)),
    ]);
    keys.extend(named(compared));
    keys.extend(named([
        ("claim", Node::text(it.claim.as_str())),
        ("margin", margin(it.margin)),
        ("min_effect", Node::Float(it.min_effect)),
    ]));
    Node::Section(keys)
}

fn guard(it: &Guard) -> Node {
    let [treatment, control] = contrast(&it.contrast);
    Node::Section(named([
        ("metric", Node::text(&it.metric)),
        ("where", condition(&it.condition)),
        treatment,
        control,
        ("margin", margin(it.margin)),
    ]))
}

fn contrast(it: &Contrast) -> [(&'static str, Node); 2] {
    [("treatment", Node::text(&it.treatment)), ("control", Node::text(&it.control))]
}

fn condition(parts: &[(String, Scalar)]) -> Node {
    Node::Inline(sorted(parts).into_iter().map(|(name, value)| (name.clone(), scalar(value))).collect())
}

fn margin(margin: Margin) -> Node {
    Node::Inline(named([match margin {
        Margin::Relative(it) => ("relative", Node::Float(it)),
        Margin::Absolute(it) => ("absolute", Node::Float(it)),
    }]))
}

fn scalar(value: &Scalar) -> Node {
    match value {
        Scalar::Bool(it) => Node::Bool(*it),
        Scalar::Int(it) => Node::Int(*it),
        Scalar::Float(it) => Node::Float(*it),
        Scalar::Text(it) => Node::text(it),
    }
}

/// Whole seconds where they are whole, else milliseconds.
fn duration(it: Duration) -> String {
    let millis = it.as_millis();
    if millis.is_multiple_of(1_000) { format!("{}s", millis / 1_000) } else { format!("{millis}ms") }
}

fn sorted<T>(parts: &[(String, T)]) -> Vec<&(String, T)> {
    let mut parts: Vec<_> = parts.iter().collect();
    parts.sort_by(|(a, _), (b, _)| a.cmp(b));
    parts
}
