//! Plain commands and probes in a pre-registration.

use harness::prereg::{Launch, Output, Prereg, WorkResult, parse, parse_canonical};

const EXAMPLE: &str = r#"
id = "demo"
title = "Demo"
ledger = "demo"
[commands]
command = ["./sort", "--n={n}"]
stdin = "words"
exit_codes = [3, 0, 3]
before = { block = ["sync"], sample = ["rm", "-f", "out"] }
result = { files = ["out"] }
timeout = "1500ms"
[params]
n = [10, 100]
[arms.a]
role = "control"
[arms.b]
role = "treatment"
command = ["./sort", "--fast", "--n={n}"]
[design]
samples = 5
[metrics.wall]
unit = "ms"
better = "lower"
probe = "wall"
[metrics.size]
unit = "KiB"
better = "lower"
probe = { bytes = ["out"] }
nature = "exact"
[metrics.took]
unit = "s"
better = "lower"
probe = { pattern = 'took ([0-9.]+)' }
[metrics.hits]
unit = "1"
better = "higher"
probe = { pointer = "/cache/hits" }
"#;

#[track_caller]
fn read(text: &str) -> Prereg {
    parse(text, "demo.toml").unwrap_or_else(|it| panic!("{it}"))
}

#[test]
fn the_canonical_text_says_the_same() {
    let prereg = read(EXAMPLE);
    let canonical = prereg.canonical();
    assert_eq!(parse_canonical(&canonical).unwrap(), prereg, "{canonical}");
    let Launch::Plain(commands) = &prereg.worker.launch else { panic!("no commands") };
    assert_eq!(commands.exit_codes, [0, 3]);
    // Two metrics read what is printed.
    assert_eq!(commands.output, Output::Capture);
    // Without them and without a result nothing is captured or compared.
    let short =
        EXAMPLE.split("[metrics.took]").next().unwrap().replace("result = { files = [\"out\"] }\n", "");
    let Launch::Plain(commands) = read(&short).worker.launch else { panic!("no commands") };
    assert_eq!((commands.output, commands.result), (Output::Null, WorkResult::Unchecked));
    let captured = short.replace("[commands]\n", "[commands]\noutput = \"capture\"\n");
    let Launch::Plain(commands) = read(&captured).worker.launch else { panic!("no commands") };
    assert_eq!(commands.result, WorkResult::Stdout);
}

#[test]
fn what_cannot_be_measured_is_told() {
    let problems = [
        ("probe = \"wall\"", "probe = \"wal\"", "did you mean `wall`?"),
        ("unit = \"ms\"\nbetter", "unit = \"KiB\"\nbetter", "`wall` is not measured in `KiB`"),
        ("'took ([0-9.]+)'", "'took [0-9.]+'", "has 0 groups, expected one: the number"),
        ("'took ([0-9.]+)'", "'took ([0-9.+'", "is no regular expression"),
        ("\"/cache/hits\"", "\"cache/hits\"", "did you mean `/cache/hits`?"),
        ("probe = \"wall\"\n", "", "`probe` is missing in [metrics.wall]"),
        ("\"--fast\", \"--n={n}\"", "\"--fast\"", "no command of arm `b` reads parameter `n`"),
        (
            "[commands]\n",
            "[commands]\noutput = \"null\"\n",
            "`output` is not captured, but metric `took` is read from it",
        ),
        ("[commands]\n", "[commands]\nshell = true\n", "with `shell = true` a command is one text"),
        ("command = [\"./sort\", \"--n={n}\"]\n", "", "arm `a` has no command"),
        (
            "[params]",
            "[worker]\ncommand = [\"x\"]\nsystem = \"y\"\n[params]",
            "there are a [worker] and [commands]",
        ),
        ("exit_codes = [3, 0, 3]", "exit_codes = [256]", "expected a whole number from 0 to 255"),
        ("bytes = [\"out\"]", "bytes = [\"out\"], pointer = \"/a\"", "says where one number is read"),
        ("nature = \"exact\"", "nature = \"exactly\"", "did you mean `exact`?"),
    ];
    for (old, new, told) in problems {
        assert!(EXAMPLE.contains(old), "{old}");
        let text = EXAMPLE.replacen(old, new, 1);
        let problems = parse(&text, "demo.toml").map(|it| it.canonical()).unwrap_err().to_string();
        assert!(problems.contains(told), "{new}\n{problems}");
    }
    let worker = EXAMPLE.replace("[commands]", "[unused]").replace("[unused]", "[worker]\nsystem = \"x\"");
    let problems = parse(&worker, "demo.toml").unwrap_err().to_string();
    assert!(problems.contains("metric `wall` has a probe, but a worker says its values"), "{problems}");
}
