#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What CI runs: every build, every test, every check. Stops at the first stage that fails; always
# ends in a table of stages and a line "N passed, N failed".
# shellcheck disable=SC2317  # Functions are called through stage().
set -uo pipefail
cd "$(dirname "$0")/.." || exit

# Two lanes: 60 s are two minutes of fuzzing.
fuzz_seconds=${FUZZ_SECONDS:-60}
passed=0
failed=0
table=()

# ctest's own account, from its JUnit file, is added to the totals.
count_tests() {
  local counts
  counts=$(grep -oE '(tests|failures)="[0-9]+"' "$1" | head -2 | grep -oE '[0-9]+' | tr '\n' ' ')
  local all bad
  read -r all bad <<<"$counts"
  passed=$((passed + all - bad))
  failed=$((failed + bad))
}

finish() {
  echo
  printf '%-24s %8s  %s\n' stage seconds result
  printf '%s\n' "${table[@]}"
  echo
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
}

# stage NAME COMMAND...: runs it, keeps its time; a failure ends everything.
stage() {
  local name=$1 begin=$SECONDS result=ok
  shift
  echo "== $name"
  "$@" || result=FAILED
  table+=("$(printf '%-24s %8d  %s' "$name" $((SECONDS - begin)) "$result")")
  [ "$result" = ok ] && return
  # A stage may fail before it could count what failed in it.
  [ "$failed" -gt 0 ] || failed=1
  finish
}

# run_tests PRESET [CTEST-OPTIONS...]
run_tests() {
  local preset=$1 report=build/$1/tests.xml status=0
  shift
  rm -f "$report"
  ctest --preset "$preset" "$@" --output-junit "$PWD/$report" || status=$?
  [ -f "$report" ] && count_tests "$report"
  return "$status"
}

# A check without tests of its own counts as one.
check() { "$@" && passed=$((passed + 1)); }

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# Many tests watch real processes with real time-outs. One that the machine starved is run once more;
# ctest's output shows that it was.
retry=(--repeat until-pass:2)
stage "build release" tools/build.sh release
stage "test release" run_tests release -LE leaker "${retry[@]}"
# The leakers sleep most of their time, so more of them run than there are cores. They are real
# programs judged after ten seconds: where the machine starved one of its samples, it is run again.
stage "leakers" run_tests release -L leaker -j 4 "${retry[@]}"
stage "lint" check tools/lint.sh
# One sanitizer build, by clang, for the tests and for the fuzzers: most of its time goes to the
# rooms, and both need all of them. cmake/PlateauRooms.cmake says how it is kept cheap.
stage "build asan" tools/build.sh asan
stage "test asan" run_tests asan "${retry[@]}"
# src/ starts no threads. The tracer has none of its own either, but runs in those of others: its
# lanes and tables are tried by several at once. The trainer's loader has worker threads.
build_tsan() { cmake --preset tsan >/dev/null && ninja -C build/tsan tracer_test train_data_test; }
stage "build tsan" build_tsan
stage "test tsan" run_tests tsan -R '^tracer\.(Lanes|Address|Sent)|^train_data\.(Loader\.|Dataset\.Threads)'
stage "fuzz ${fuzz_seconds} s" check tools/fuzz.sh "$fuzz_seconds"
finish
