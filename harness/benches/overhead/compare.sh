#!/bin/sh
# The cost of measuring a command with the loop of `harness` beside `hyperfine -N` (Debian package hyperfine): the same
# command, the same number of runs, the same machine, in turns. Prints wall times, means and their ratios, harness / hyperfine.
#
# On a busy machine the scheduler, not the tools, decides: `chrt -f 10 compare.sh ..` puts both above what else runs.
#
# usage: compare.sh LOOPS [RUNS] [ROUNDS] [COMMAND]      LOOPS is the example `loops`, built with --release
set -eu
loops=$1 runs=${2:-500} rounds=${3:-5} command=${4:-true}
command -v hyperfine > /dev/null || { echo "hyperfine is not on PATH: apt-get install hyperfine" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
now() { date +%s%N; }
"$loops"
for round in $(seq "$rounds"); do
  start=$(now); hyperfine -N --warmup 0 --runs "$runs" --export-json "$folder/h.json" "$command" > /dev/null 2>&1; end=$(now)
  theirs=$((end - start))
  start=$(now); told=$(RUNS=$runs "$loops" "$command"); end=$(now)
  ours=$((end - start))
  mean=$(sed -n 's/.*"mean": \([0-9.e-]*\),.*/\1/p' "$folder/h.json" | head -n 1)
  awk -v r="$round" -v t="$theirs" -v o="$ours" -v m="$mean" -v n="${told#* }" 'BEGIN {
    printf "round %d: hyperfine %.3f s, harness %.3f s (ratio %.3f); means %.4f and %.4f ms (ratio %.3f)\n",
      r, t / 1e9, o / 1e9, o / t, m * 1e3, n, n / (m * 1e3) }'
done
