#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exact.sh [NAME...]: runs rows of expected.tsv (all, if none is named), shortened and a few at a
# time, under `plateau run --heap=exact` with the counting allocator behind the tracer, and holds
# the totals of every process to what it counted. Environment as for run_leaker.sh.
# shellcheck source=tests/e2e/lib.sh
. "${SOURCE_DIR:?path of the repository}/tests/e2e/lib.sh"
# shellcheck source=tests/leakers/leaker_words.sh
. "$SOURCE_DIR/tests/leakers/leaker_words.sh"
at_once=6

# one NAME COMMAND: leaves NAME.log, and NAME.passed if all is well.
one() {
  local name=$1 words=()
  fill_words "$2"
  # The wrapper script starts one program and hands on no arguments.
  [ "$name" = wrapper_sh ] || words+=(--steps 60 --seconds 2)
  mkdir "$name"
  COUNTING_DIR=$PWD/$name LD_PRELOAD=$LEAKERS_BIN/libcounting.so \
    "$PLATEAU" run -q --heap=exact -o "$name.plateau" -- "${words[@]}" >"$name.log" 2>&1 &&
    "$PLATEAU" dump --json "$name.plateau" >"$name.json" 2>>"$name.log" &&
    "$python" "$leakers/check_exact.py" "$name" "$name.json" "$name" >>"$name.log" 2>&1 &&
    touch "$name.passed"
}

rows=$(tail -n +2 "$leakers/expected.tsv")
[ $# -eq 0 ] || rows=$(for name in "$@"; do grep -P "^$name\t" <<<"$rows"; done)
while IFS=$'\t' read -r name command _; do
  while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || true; done
  one "$name" "$command" </dev/null &
done <<<"$rows"
wait

failed=0
while IFS=$'\t' read -r name _; do
  tail -n 4 "$name.log" | cut -c 1-400 | tr '\r' '\n' | grep -a "^$name" || true
  [ -e "$name.passed" ] || { echo "$name: not to the byte"; tail -c 500 "$name.log"; failed=$((failed + 1)); }
done <<<"$rows"
[ "$failed" -eq 0 ] || fail "$failed of $(wc -l <<<"$rows") leakers"
