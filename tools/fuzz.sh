#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes every parser for its share of the seconds: tools/fuzz.sh [SECONDS_TOTAL]
#
# Builds the fuzzers of the preset asan, then runs the targets two at a time from their seeds in fuzz/corpus. New
# inputs go to a temporary directory, never into the tree. Prints a line per target; a crash prints
# where its reproducer is and makes the exit code 1.
set -euo pipefail
cd "$(dirname "$0")/.."
total=${1:-60}
[[ "$total" =~ ^[0-9]+$ ]] || { echo "usage: tools/fuzz.sh SECONDS_TOTAL" >&2; exit 2; }
tools/build.sh asan fuzzers
work=$(mktemp -d "${TMPDIR:-/tmp}/plateau-fuzz.XXXXXX")

targets=()
for program in build/asan/fuzz_*; do
  [ -x "$program" ] && [ -f "$program" ] && targets+=("$(basename "$program")")
done
[ ${#targets[@]} -gt 0 ] || { echo "fuzz: no targets were built" >&2; exit 2; }
lanes=2
seconds=$(( total * lanes / ${#targets[@]} ))
[ "$seconds" -ge 1 ] || seconds=1

run_target() {
  local name=$1 log="$work/$1.log" status=0
  mkdir -p "$work/$name/new"
  "build/asan/$name" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$work/$name/" "$work/$name/new" "fuzz/corpus/$name" >"$log" 2>&1 || status=$?
  local executions
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  if [ "$status" -eq 0 ]; then
    printf '%-22s ok      %12s executions in %s s\n' "$name" "${executions:-?}" "$seconds"
  else
    printf '%-22s CRASHED after %s executions; reproducer: %s\n' "$name" "${executions:-?}" \
      "$(find "$work/$name" -maxdepth 1 -type f | head -1)"
    tail -5 "$log"
    touch "$work/failed"
  fi
}

for name in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$lanes" ]; do wait -n || true; done
  run_target "$name" &
done
wait
if [ -e "$work/failed" ]; then
  echo "fuzz: crashes found; logs and reproducers are in $work" >&2
  exit 1
fi
rm -rf "$work"
