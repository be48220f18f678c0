#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What CI runs: every build, every test, every check. Ends in a table of stages with their budgets, the
# tests that were skipped, and a line "N passed, N failed, N skipped" (tools/test_report.py).
#
# Two lanes. In the first are the release build and the tests, at normal priority, because many of them
# watch real processes with real time-outs and sleep half of their time. In the second, started when the
# release build is done, is what only computes: sanitizer builds, lint and fuzzing, at low priority. A
# lane stops at its first failure; the other goes on. The budgets of the release build and the first
# lane add up to 35 minutes.
# shellcheck disable=SC2317  # Functions are called through stage().
set -uo pipefail
cd "$(dirname "$0")/.." || exit

# Two lanes of fuzzers: 60 s are two minutes of fuzzing.
fuzz_seconds=${FUZZ_SECONDS:-60}
state=build/test
rm -rf "$state"
mkdir -p "$state"

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# stage NAME BUDGET_SECONDS COMMAND...: runs it and keeps its time. A row of stages.tsv is: name, seconds,
# budget, ok or FAILED, and the JUnit file with its tests; a stage without one counts as one test.
stage() {
  local name=$1 budget=$2 begin=$SECONDS result=ok junit=$state/${1// /-}.xml
  shift 2
  echo "== $name"
  junit="$junit" "$@" || result=FAILED
  [ -f "$junit" ] || junit=-
  printf '%s\t%d\t%d\t%s\t%s\n' "$name" $((SECONDS - begin)) "$budget" "$result" "$junit" >>"$state/stages.tsv"
  touch "$state/${name// /-}.$result"
  [ "$result" = ok ]
}

# Waits for a stage of the other lane; fails if it failed or was never reached.
after() {
  until [ -e "$state/${1// /-}.ok" ]; do
    [ ! -e "$state/${1// /-}.FAILED" ] && [ ! -e "$state/second-lane.ended" ] || return 1
    sleep 1
  done
}

# run_tests PRESET [CTEST-OPTIONS...]. A test that the machine starved is run once more; ctest's output
# shows that it was.
run_tests() {
  local preset=$1
  shift
  ctest --preset "$preset" "$@" --repeat until-pass:2 --output-junit "$PWD/$junit"
}

# The tracer has no threads of its own, but runs in those of others: its lanes and tables are tried by
# several at once. The trainer's loader has worker threads. The server has one that reads files; its tests
# take most rooms to build, so they are left to the long way: tools/build.sh tsan serve_test.
threads='^tracer\.(Lanes|Address|Sent)|^train_data\.(Loader\.|Dataset\.Threads)'

second_lane() {
  stage "build asan" 600 tools/build.sh asan &&
    stage "build tsan" 120 tools/build.sh tsan tracer_test train_data_test &&
    stage "lint" 600 tools/lint.sh &&
    stage "fuzz" $((fuzz_seconds + 60)) tools/fuzz.sh "$fuzz_seconds"
  touch "$state/second-lane.ended"
}

first_lane() {
  stage "test release" 1110 run_tests release -LE leaker || return
  # The leakers sleep most of their time, so more of them run than there are cores. They are real
  # programs judged after ten seconds: where the machine starved one of its samples, it is run again.
  stage "leakers" 270 run_tests release -L leaker -j 4 || return
  after "build asan" || return
  stage "test asan" 240 run_tests asan || return
  after "build tsan" || return
  stage "test tsan" 30 run_tests tsan -R "$threads"
}

if stage "build release" 450 tools/build.sh --tests --trainer release; then
  # Low priority for itself and all that it starts.
  (renice -n 10 "$BASHPID" >/dev/null; second_lane) >"$state/second-lane.log" 2>&1 &
  first_lane
  echo "== the second lane: sanitizer builds, lint, fuzzing"
  wait
  cat "$state/second-lane.log"
fi
tools/test_report.py "$state/stages.tsv" tests/allowed_skips.txt "$SECONDS"
