"""Times SciPy and the statistics of this crate on the same data, in turn, and prints a table.

    python3 harness/benches/scipy/compare.py [METHOD ...]

Makes a virtual environment with pinned versions under target/, builds the example `timings` in release, and for every
method and size takes the medians of three rounds, one of SciPy after one of ours. The last column compares one number of
both results, so that no fast answer is a wrong one.
"""

import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = ROOT / "target"
VENV = TARGET / "scipy-venv"
PINNED = ["numpy==2.4.6", "scipy==1.17.1"]
ROUNDS = 3
SECONDS = 0.2

if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
    if not (VENV / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([VENV / "bin" / "pip", "install", "--quiet", *PINNED], check=True)
    os.execv(VENV / "bin" / "python", [str(VENV / "bin" / "python"), __file__, *sys.argv[1:]])

import numpy as np
import scipy
from scipy import stats


def welch_t(x, y, axis=-1):
    """The statistic alone, vectorized: the fastest way that SciPy's own resampling offers."""
    n, m = x.shape[axis], y.shape[axis]
    error = np.var(x, axis=axis, ddof=1) / n + np.var(y, axis=axis, ddof=1) / m
    return (np.mean(x, axis=axis) - np.mean(y, axis=axis)) / np.sqrt(error)


def change(x, y, axis=-1):
    return np.mean(x, axis=axis) / np.mean(y, axis=axis) - 1


def ln(p):
    return float(np.log(p)) if p > 0 else None


def permutation(x, y):
    found = stats.permutation_test(
        (x, y), welch_t, vectorized=True, n_resamples=10_000, alternative="two-sided", rng=np.random.default_rng(1))
    return found.pvalue


def bootstrap(x, y):
    found = stats.bootstrap(
        (x, y), change, vectorized=True, n_resamples=10_000, method="BCa", rng=np.random.default_rng(1))
    return found.confidence_interval.low


def delta(x, y):
    return float(np.sign(x[:, None] - y[None, :]).mean())


def delta_by_u(x, y):
    return 2 * stats.mannwhitneyu(x, y, method="asymptotic").statistic / (len(x) * len(y)) - 1


# Method, the call, sizes of an arm, the tolerance of the compared number (None: random or not the same number).
SMALL, LARGE = 51, 100_000
METHODS = [
    ("welch", "ttest_ind(equal_var=False)", lambda x, y: stats.ttest_ind(x, y, equal_var=False).statistic, (SMALL, LARGE), 1e-8),
    ("yuen", "ttest_ind(trim=0.2)", lambda x, y: stats.ttest_ind(x, y, equal_var=False, trim=0.2).statistic, (SMALL, LARGE), 1e-8),
    ("mann-whitney", "mannwhitneyu(asymptotic)", lambda x, y: ln(stats.mannwhitneyu(x, y, method="asymptotic").pvalue), (SMALL, LARGE), 1e-8),
    ("mann-whitney-exact", "mannwhitneyu(exact)", lambda x, y: ln(stats.mannwhitneyu(x, y, method="exact").pvalue), (SMALL,), 1e-8),
    ("brunner-munzel", "brunnermunzel", lambda x, y: -stats.brunnermunzel(x, y).statistic, (SMALL, LARGE), 1e-8),
    ("cliffs-delta", "numpy, all pairs", delta, (SMALL,), 1e-10),
    ("cliffs-delta", "mannwhitneyu, rescaled", delta_by_u, (LARGE,), 1e-10),
    ("hodges-lehmann", "numpy, all pairs", lambda x, y: float(np.median(x[:, None] - y[None, :])), (SMALL, 5_000), 1e-10),
    ("wilcoxon", "wilcoxon(approx)", lambda x, y: ln(stats.wilcoxon(x, y, method="asymptotic").pvalue), (SMALL, LARGE), 1e-8),
    ("brown-forsythe", "levene(center=median)", lambda x, y: stats.levene(x, y, center="median").statistic, (SMALL, LARGE), 1e-8),
    ("permutation", "permutation_test(10,000)", permutation, (SMALL,), None),
    ("bootstrap-bca", "bootstrap(BCa, 10,000)", bootstrap, (SMALL,), None),
    ("shapiro", "shapiro", lambda x, y: stats.shapiro(x).statistic, (SMALL, 5_000), 1e-6),
    ("anderson", "anderson(norm)", lambda x, y: stats.anderson(x, method="interpolate").statistic, (SMALL, LARGE), 1e-6),
    ("kendall-trend", "kendalltau + theilslopes", lambda x, y: (stats.theilslopes(x), stats.kendalltau(np.arange(len(x)), x).statistic)[1], (SMALL, 5_000), 1e-8),
    ("quantiles", "np.quantile(0.5, 0.9, 0.99)", lambda x, y: float(np.quantile(x, [0.5, 0.9, 0.99]).sum()), (SMALL, LARGE), 1e-10),
]


def data(n):
    rng = np.random.default_rng(20260613)
    return 99.9 * (1 + 0.02 * rng.exponential(size=n)), 100 * (1 + 0.02 * rng.exponential(size=n))


def of_scipy(call, x, y):
    start, times, result = time.perf_counter(), [], None
    while len(times) < 3 or time.perf_counter() - start < SECONDS:
        begin = time.perf_counter()
        result = call(x, y)
        times.append(time.perf_counter() - begin)
    return float(np.median(times)), result


def of_ours(program, files, method):
    text = subprocess.run([program, *files, method, str(SECONDS)], check=True, capture_output=True, text=True).stdout
    return tuple(float(word) for word in text.split())


def human(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def main():
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--package", "harness", "--no-default-features", "--features", "stats",
         "--example", "timings"], cwd=ROOT, check=True)
    program = TARGET / "release" / "examples" / "timings"
    print(f"numpy {np.__version__}, scipy {scipy.__version__}, {os.cpu_count()} cores\n")
    print("| method | n an arm | against | SciPy | ours | ratio | results |")
    print("|---|--:|---|--:|--:|--:|---|")
    for method, against, call, sizes, tolerance in METHODS:
        if len(sys.argv) > 1 and method not in sys.argv[1:]:
            continue
        for n in sizes:
            x, y = data(n)
            files = [TARGET / f"scipy-{arm}-{n}.bin" for arm in ("treatment", "control")]
            for path, values in zip(files, (x, y)):
                path.write_bytes(values.astype("<f8").tobytes())
            rounds = [(of_scipy(call, x, y), of_ours(program, files, method)) for _ in range(ROUNDS)]
            theirs = float(np.median([round[0][0] for round in rounds]))
            ours = float(np.median([round[1][0] for round in rounds]))
            expected, found = rounds[0][0][1], rounds[0][1][1]
            if tolerance is None:
                verdict = f"{expected:.4g}, {found:.4g} (random)"
            else:
                verdict = "equal" if abs(found - expected) <= tolerance * abs(expected) else f"{expected} and {found}"
            print(f"| {method} | {n:,} | {against} | {human(theirs)} | {human(ours)} | {theirs / ours:.3g} | {verdict} |", flush=True)


main()
