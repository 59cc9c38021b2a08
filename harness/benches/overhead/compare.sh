#!/bin/sh
# The cost of measuring a command with `harness` beside `hyperfine -N` (Debian package hyperfine): the same command, the
# same number of runs, the same machine, in turns. Prints both wall times and means with their ratios.
#
# usage: compare.sh HARNESS [RUNS] [ROUNDS]      HARNESS is the program, built with --release
set -eu
harness=$(realpath "$1") runs=${2:-500} rounds=${3:-3}
command -v hyperfine > /dev/null || { echo "hyperfine is not on PATH: apt-get install hyperfine" >&2; exit 1; }
folder=$(mktemp -d)
trap '"$harness" --project "$folder" db stop -q > /dev/null 2>&1 || true; rm -rf "$folder"' EXIT
mkdir "$folder/experiments"
cd "$folder"
# Two arms of the same command: half of the runs each, so that both tools start as many processes.
cat > experiments/overhead.toml << TOML
id = "overhead"
title = "Overhead"
ledger = "overhead"
[arms.a]
role = "control"
command = ["true"]
[arms.b]
role = "treatment"
command = ["true", "b"]
[design]
warmups = 0
samples = $((runs / 2))
[metrics.wall]
unit = "ms"
better = "lower"
probe = "wall"
TOML
# The store is there before the clock runs, as everything that hyperfine needs is.
"$harness" register overhead -q > /dev/null
now() { date +%s%N; }
for round in $(seq "$rounds"); do
  start=$(now); hyperfine -N --warmup 0 --runs "$runs" --export-json h.json true > /dev/null 2>&1; end=$(now)
  theirs=$(((end - start) / 1000))
  start=$(now); "$harness" run overhead > told.txt 2>&1; end=$(now)
  ours=$(((end - start) / 1000))
  # What "measured in" tells is the loop alone, without the store, verdict, ledger and plots.
  loop=$(sed -n 's/.*measured in \([0-9.]*\) s.*/\1/p' told.txt)
  mean=$(sed -n 's/.*"mean": \([0-9.e-]*\),.*/\1/p' h.json | head -n 1)
  our_mean=$("$harness" db psql -q << 'SQL' | tail -n 1
\a
\t
select avg(value) from samples where run_id = (select run_id from latest_runs where experiment = 'overhead');
SQL
)
  awk -v r="$round" -v t="$theirs" -v o="$ours" -v l="${loop:-0}" -v m="$mean" -v n="$our_mean" 'BEGIN {
    printf "round %d: hyperfine %.3f s, harness %.3f s whole (ratio %.2f), %.3f s measuring (ratio %.2f); means %.4f and %.4f ms (ratio %.3f)\n",
      r, t / 1e6, o / 1e6, o / t, l, l * 1e6 / t, m * 1e3, n, n / (m * 1e3) }'
done
