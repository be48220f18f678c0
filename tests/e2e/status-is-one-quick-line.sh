#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `plateau status` finds the recordings that are being written, `--short` is one line for a prompt, nothing where there is
# nothing, and neither a pipe nor a folder makes it wait.
. "$(dirname "$0")/lib.sh"

cat >job.py <<'PY'
import time
kept = []
for step in range(1, 2000):
    kept.append(bytearray(b"x") * 300_000)
    print(f"step {step}", flush=True)
    time.sleep(0.01)
PY
"$PLATEAU" run -q -o live.plateau -- python3 job.py >/dev/null 2>&1 &
watcher=$!
trap 'kill -TERM $watcher 2>/dev/null || true; wait $watcher 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
shows_it() { "$PLATEAU" status --paths | grep -q "$PWD/live.plateau"; }
wait_until shows_it
# Of its first moments a recording has the interpreter's first pages, or nothing yet.
live_level() { run "$PLATEAU" status live.plateau --short; grep -qE '^(plateau|warming|leak|undecided) [0-9.]+ [MG]B' out; }
wait_until live_level
[ "$code" -ne 2 ] || fail "status failed: $(cat err)"
expect_one_line out
expect_harmless out
run "$PLATEAU" status
[ "$code" -ne 2 ] || fail "status failed: $(cat err)"
expect_in out "live.plateau"
kill -TERM $watcher
wait $watcher || true

# What is over is told when it is asked for, and the exit code is the verdict's.
run "$PLATEAU" status live.plateau
expect_one_line out
"$PLATEAU" convert "$RUN2" -q -o run2.csv
run "$PLATEAU" status run2.csv --short
expect_code 0
expect_in out "plateau 17.0 GB"

# Nothing is recorded: nothing in a prompt, a sentence otherwise. Other tests' jobs may run beside this one, so only in a
# view of the machine that has none.
if unshare -rpf --mount-proc true 2>/dev/null; then
  run unshare -rpf --mount-proc "$PLATEAU" status --short
  expect_code 4
  expect_empty out
  expect_empty err
  run unshare -rpf --mount-proc "$PLATEAU" status
  expect_code 4
  expect_in out "no job is being recorded"
fi

# Neither a pipe without a writer nor a folder makes it wait.
mkfifo pipe
for odd in pipe . no-such; do
  run timeout 5 "$PLATEAU" status "$odd" --short
  expect_code 2
  expect_one_line err
done
run "$PLATEAU" status --help
expect_not_in out "--expect"
