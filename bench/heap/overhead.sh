#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cost of the tracer on the malloc storm: nothing, sampled and exact in turn, so that what the machine
# does meanwhile hits all alike. Prints medians of CPU per malloc/free pair and their ratios.
#
#   bench/heap/overhead.sh [REPETITIONS [PAIRS [THREADS]]]     (BUILD=build/release)
set -euo pipefail
cd "$(dirname "$0")/../.."
repetitions=${1:-5} pairs=${2:-3000000} threads=${3:-1}
build=${BUILD:-build/release}
directory=$(mktemp -d /dev/shm/plateau-bench.XXXXXX)
trap 'rm -rf "$directory"' EXIT
storm=$build/bench/heap/heap_storm drain=$build/bench/heap/heap_drain
tracer=$PWD/$build/libplateau_tracer.so

traced() { # MODE
  rm -f "$directory"/*
  "$drain" "$directory" env PLATEAU_HEAP="$directory:$1" LD_PRELOAD="$tracer" \
    "$storm" "$pairs" "$threads" 2>>"$directory.log"
}

: >"$directory.log"
for ((i = 0; i < repetitions; i++)); do
  echo "none $("$storm" "$pairs" "$threads")"
  echo "sampled $(traced sampled:524288)"
  echo "exact $(traced exact:0)"
done | awk '
  { cpu[$1, ++n[$1]] = $3; wall[$1, n[$1]] = $5; rss[$1] = $7 }
  function median(a, mode,   i, j, t, v) {
    for (i = 1; i <= n[mode]; i++) v[i] = a[mode, i]
    for (i = 1; i <= n[mode]; i++) for (j = i + 1; j <= n[mode]; j++) if (v[j] < v[i]) { t = v[i]; v[i] = v[j]; v[j] = t }
    return v[int((n[mode] + 1) / 2)]
  }
  END {
    split("none sampled exact", order, " ")
    for (k = 1; k <= 3; k++) { m = order[k]
      printf "%-8s cpu %6.1f ns (%.2fx)  wall %6.1f ns (%.2fx)  rss %+.1f MB\n", m, median(cpu, m),
        median(cpu, m) / median(cpu, "none"), median(wall, m), median(wall, m) / median(wall, "none"),
        (rss[m] - rss["none"]) / 1024 } }'
tail -2 "$directory.log"
rm -f "$directory.log"
