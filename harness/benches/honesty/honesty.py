"""How often equal code is called different, and how often a true slowdown is found: this crate's way and others'.

    python3 harness/benches/honesty/honesty.py [--pairs 200] [--samples 30] [--power-runs 50] [--seconds 3]
                                               [--slowdown 0.02] [--worker [JSON]] [--quick]

Prints one table. Half of the pairs of equal arms are measured under a second load. All ways are measured in turn on the same
machine in the same minutes, so that none of them has the quiet ones. An arm is a command of about 5 ms (built from load.c),
or with --worker a system of a worker that speaks the harness's protocol: the example `same_code`, which is built for it, or
what the JSON says, such as {"command": ["./w"], "system": "s", "params": {}, "metric": "time", "unit": "ms"}. A worker has no
power runs.

| way | how it measures | when it calls two arms different |
|---|---|---|
| blocks | both arms in every block, in random order, timed by wall clock | Welch's t, paired t of log ratios, Wilcoxon's signed ranks; p < 0.05 |
| blocks, processor time | the same by the processor time of the process (probe `cpu`), of a worker that of its thread | the same |
| one after the other | all of A, then all of B | Welch's t; p < 0.05 |
| hyperfine | 3 warm-ups and all of A, then the same of B | the ratio of the means is farther than its sigma from 1 (what "1.05 ± 0.03 times faster" says) |
| criterion | 100 samples of A, later 100 of B | bootstrap t-test p < 0.05 and the 95 % interval of the change beyond ±1 %, its defaults |

hyperfine and criterion are not run: their rules are applied to samples taken in their order, with the same loop, so that
only order and rule differ. An outcome is judged in both directions for equal arms; a true slowdown counts as found if it is
called different in the right direction.
"""

import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = ROOT / "target"
VENV = TARGET / "scipy-venv"
PINNED = ["numpy==2.4.6", "scipy==1.17.1"]
HERE = pathlib.Path(__file__).resolve().parent

if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
    if not (VENV / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([VENV / "bin" / "pip", "install", "--quiet", *PINNED], check=True)
    os.execv(VENV / "bin" / "python", [str(VENV / "bin" / "python"), __file__, *sys.argv[1:]])

import numpy as np
from scipy import stats

ALPHA = 0.05
CRITERION_SAMPLES = 100
CRITERION_RESAMPLES = 2_000
CRITERION_NOISE = 0.01


class Command:
    """One sample is one process: wall time from before its start until it is waited for, and its processor time, in ms."""

    def __init__(self, argv):
        self.argv = argv

    def sample(self):
        start = time.perf_counter_ns()
        child = os.posix_spawn(self.argv[0], self.argv, {})
        _, status, used = os.wait4(child, 0)
        took = time.perf_counter_ns() - start
        if status != 0:
            raise SystemExit(f"{self.argv} ended with status {status}")
        return took / 1e6, (used.ru_utime + used.ru_stime) * 1e3

    def close(self):
        pass


class Worker:
    """One sample is one answer of each of two processes of the harness's protocol: one times by wall clock, one by its thread's
    processor time."""

    def __init__(self, what):
        self.children = [self.start(what, clock) for clock in ("wall", "thread-cpu")]
        self.metric, self.block = what["metric"], 0

    def start(self, what, clock):
        child = subprocess.Popen(what["command"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.ask(child, {"hello": {"protocol": 1}})
        self.ask(child, {"prepare": {
            "system": what["system"], "params": what["params"], "seed": 7, "scratch": str(TARGET / "bench-scratch"),
            "clock": clock, "metrics": {what["metric"]: what["unit"]},
        }})
        return child

    @staticmethod
    def ask(child, request):
        child.stdin.write(json.dumps(request) + "\n")
        child.stdin.flush()
        line = child.stdout.readline()
        if not line:
            raise SystemExit("the worker ended in place of an answer")
        answer = json.loads(line)
        if "error" in answer:
            raise SystemExit(f"the worker refused: {answer}")
        return answer

    def sample(self):
        request = {"sample": {"block": self.block, "warmup": False}}
        self.block += 1
        return tuple(self.ask(child, request)["sample"]["values"][self.metric] for child in self.children)

    def close(self):
        for child in self.children:
            child.stdin.close()
            child.wait()


def in_blocks(a, b, n):
    """n blocks, each of both arms in a random order. Of each arm a row of wall times and one of processor times."""
    values = {0: [], 1: []}
    for _ in range(n):
        order = [0, 1]
        random.shuffle(order)
        for arm in order:
            values[arm].append((a, b)[arm].sample())
    return np.array(values[0]).T, np.array(values[1]).T


def in_turn(a, b, n, warmups=0):
    """All of a, then all of b."""
    both = []
    for arm in (a, b):
        for _ in range(warmups):
            arm.sample()
        both.append(np.array([arm.sample() for _ in range(n)]).T)
    return both


# Each rule gives +1 if it calls b slower, -1 if faster, 0 if it finds nothing.


def sign(p, difference):
    return 0 if not p < ALPHA else int(math.copysign(1, difference))


def welch(a, b):
    return sign(stats.ttest_ind(a, b, equal_var=False).pvalue, b.mean() - a.mean())


def paired_t(a, b):
    ratios = np.log(b / a)
    return sign(stats.ttest_1samp(ratios, 0).pvalue, ratios.mean())


def wilcoxon(a, b):
    ratios = np.log(b / a)
    return sign(stats.wilcoxon(ratios).pvalue, np.median(ratios))


def hyperfine(a, b):
    """The ratio of slow to fast with its sigma by propagation, as hyperfine prints it."""
    fast, slow = (a, b) if a.mean() <= b.mean() else (b, a)
    ratio = slow.mean() / fast.mean()
    sigma = ratio * math.hypot(slow.std(ddof=1) / slow.mean(), fast.std(ddof=1) / fast.mean())
    return 0 if ratio - sigma <= 1 else (1 if slow is b else -1)


def criterion(a, b):
    """criterion's comparison with its base: a bootstrap t-test and the interval of the relative change of the mean."""
    rng = np.random.default_rng(len(a))
    t = lambda x, y: (x.mean(-1) - y.mean(-1)) / np.sqrt(x.var(-1, ddof=1) / x.shape[-1] + y.var(-1, ddof=1) / y.shape[-1])
    union = np.concatenate([a, b])
    mixed = rng.choice(union, (CRITERION_RESAMPLES, len(union)))
    null = t(mixed[:, : len(b)], mixed[:, len(b) :])
    p = 2 * min((null < t(b, a)).mean(), (null > t(b, a)).mean())
    change = rng.choice(b, (CRITERION_RESAMPLES, len(b))).mean(1) / rng.choice(a, (CRITERION_RESAMPLES, len(a))).mean(1) - 1
    low, high = np.quantile(change, [0.025, 0.975])
    if p >= ALPHA:
        return 0
    return 1 if low > CRITERION_NOISE else -1 if high < -CRITERION_NOISE else 0


WALL, CPU = 0, 1
WAYS = {
    "blocks, Welch": ("blocks", WALL, welch),
    "blocks, paired t of log ratios": ("blocks", WALL, paired_t),
    "blocks, Wilcoxon": ("blocks", WALL, wilcoxon),
    "blocks, processor time, Welch": ("blocks", CPU, welch),
    "blocks, processor time, Wilcoxon": ("blocks", CPU, wilcoxon),
    "one after the other, Welch": ("turn", WALL, welch),
    "hyperfine's order and rule": ("hyperfine", WALL, hyperfine),
    "criterion's order and rule": ("criterion", WALL, criterion),
}


def measure(a, b, n):
    """The samples of every design, the designs in a random order."""
    designs = {
        "blocks": lambda: in_blocks(a, b, n),
        "turn": lambda: in_turn(a, b, n),
        "hyperfine": lambda: in_turn(a, b, n, warmups=3),
        "criterion": lambda: in_turn(a, b, max(n, CRITERION_SAMPLES), warmups=3),
    }
    found = {}
    for name in random.sample(list(designs), len(designs)):
        found[name] = designs[name]()
    return {way: rule(*(arm[clock] for arm in found[design])) for way, (design, clock, rule) in WAYS.items()}


def wilson(hits, n):
    if n == 0:
        return 0.0, 1.0
    z, share = 1.959963984540054, hits / n
    center, half = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (center - half) / (1 + z * z / n), (center + half) / (1 + z * z / n)


def shown(hits, n):
    low, high = wilson(hits, n)
    return f"{100 * hits / max(n, 1):.1f} % [{100 * max(low, 0):.1f}, {100 * min(high, 1):.1f}]"


def calibrated(program, ms):
    """An argument with which the command takes about so many ms at its best."""
    best = lambda n: min(Command([program, str(n)]).sample()[WALL] for _ in range(15))
    idle = best(0)
    n = 1_000_000
    for _ in range(6):
        n = max(1, int(n * max(ms - idle, 0.1) / max(best(n) - idle, 0.01)))
    return n, idle


def spin():
    """A worker whose samples take about 2 ms: the example `same_code`."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "harness", "--example", "same_code"], cwd=ROOT, check=True)
    program = TARGET / "release" / "examples" / "same_code"
    params = {"steps": 1_000_000, "b": False}
    return {"command": [str(program), "worker"], "system": "spin", "params": params, "metric": "time", "unit": "ms"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--power-runs", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--slowdown", type=float, default=0.02)
    parser.add_argument("--worker", nargs="?", const=True, metavar="JSON")
    parser.add_argument("--quick", action="store_true", help="10 pairs and 3 power runs, to see that it works")
    args = parser.parse_args()
    if args.quick:
        args.pairs, args.power_runs = 10, 3
    random.seed(20260110)

    program = str(TARGET / "honesty-load")
    subprocess.run(["cc", "-O1", "-o", program, HERE / "load.c"], check=True)
    worker = spin() if args.worker is True else args.worker and json.loads(args.worker)
    n, idle = calibrated(program, 5.0)
    print(f"command: {n} rounds for 5 ms, {idle:.2f} ms of them to start; load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    arm = lambda: Worker(worker) if worker else Command([program, str(n)])

    alarms = {way: [0, 0] for way in WAYS}
    for pair in range(args.pairs):
        loaded = pair % 2 == 1
        other = subprocess.Popen([program, str(10**15)]) if loaded else None
        a, b = arm(), arm()
        try:
            for way, found in measure(a, b, args.samples).items():
                alarms[way][loaded] += found != 0
        finally:
            a.close(), b.close()
            if other:
                other.kill()
                other.wait()
        if pair % 20 == 19:
            print(f"{pair + 1} of {args.pairs} pairs", file=sys.stderr)

    # The slowdown is of the whole command, starting included.
    more = round(n * (1 + args.slowdown * 5.0 / (5.0 - idle)))
    a, b = Command([program, str(n)]), Command([program, str(more)])
    blocks = int(args.seconds * 1000 / (2 * 5.0))
    power = {way: 0 for way in WAYS}
    runs = 0 if worker else args.power_runs
    for _ in range(runs):
        for way, found in measure(a, b, blocks).items():
            power[way] += found == 1
    # What was injected, as far as it can be measured: of the least disturbed samples, in turns.
    if runs:
        one, other = in_blocks(a, b, 200)
        found = [np.quantile(b, 0.1) / np.quantile(a, 0.1) - 1 for a, b in zip(one, other)]
        print(f"the slowdown by the fastest tenths: wall {100 * found[WALL]:.2f} %, processor {100 * found[CPU]:.2f} %", file=sys.stderr)

    half = args.pairs // 2
    columns = ["way", "false alarms, quiet", "under a second load", "both"]
    columns += [f"{100 * args.slowdown:g} % slowdown found in {args.seconds:g} s"] if runs else []
    print("| " + " | ".join(columns) + " |")
    print("|---|" + "---:|" * (len(columns) - 1))
    for way in WAYS:
        quiet, loaded = alarms[way]
        cells = [shown(quiet, args.pairs - half), shown(loaded, half), shown(quiet + loaded, args.pairs)]
        cells += [shown(power[way], runs)] if runs else []
        print("| " + " | ".join([way, *cells]) + " |")
    what = "one worker system" if worker else "one command"
    powered = f"; power: {runs} runs of {blocks} samples an arm, of a command of 5 ms" if runs else ""
    print(f"\n{args.pairs} pairs of {what} with itself, {args.samples} samples an arm ({max(args.samples, CRITERION_SAMPLES)} for "
          f"criterion){powered}. Intervals: 95 %, Wilson.")


if __name__ == "__main__":
    main()
