#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A watcher that is killed leaves its tracer in the process. What it saw until a second or so before
# is in its recording, the process goes on, and the next watcher uses the tracer that is there.
. "$SOURCE_DIR/tests/e2e/lib.sh"

grow_source=$SOURCE_DIR/tests/stand_in/grow.c
gcc -O1 -g -o grow "$grow_source"

./grow 6000 &
job=$!
trap 'kill "$job" 2>/dev/null; rm -rf "$SCRATCH"' EXIT
sleep 0.5
"$PLATEAU" watch --heap=exact -o first.plateau "$job" >/dev/null 2>first.err &
watcher=$!
sleep 4
kill -9 "$watcher"
wait "$watcher" 2>/dev/null || true
kill -0 "$job" || fail "the job died with its watcher"
grep -q "libplateau_tracer" "/proc/$job/maps" || skip "the watcher had not attached yet: $(cat first.err)"
run "$PLATEAU" profile first.plateau
expect_in out "keep"

sleep 1
run "$PLATEAU" profile "$job" --for 2s
expect_in err "the heap tracer was loaded into process $job"
expect_in out "keep"
kill -0 "$job" || fail "the job died"
grep -q "libplateau_tracer" "/proc/$job/maps" && fail "the tracer was not taken out at last"

# The same of a tracer that the program began with: it stays, switched off.
"$PLATEAU" run --heap=exact -o second.plateau -- ./grow 6000 >/dev/null 2>&1 &
runner=$!
sleep 3
started=$(pgrep -P "$runner" -x grow || true)
[ -n "$started" ] || started=$(pgrep -nx grow)
kill -9 "$runner"
sleep 1
run "$PLATEAU" profile "$started" --for 2s
kill "$started"
expect_in err "the tracer stays loaded, switched off: the program began with it"
expect_in out "keep"
run "$PLATEAU" profile second.plateau
expect_in out "keep"
