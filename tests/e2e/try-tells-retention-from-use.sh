#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `plateau try` runs trim and gc inside a running process, says what it does and what that proves,
# and leaves a process that it may not touch alone.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >cycles.py <<'PY'
import gc, time
gc.disable()
class Node: pass
for i in range(20000):
    a = Node(); a.b = Node(); a.b.a = a; a.x = bytes(1000)
del a
print("ready", flush=True)
while True:
    time.sleep(0.05)
PY
/usr/bin/python3 cycles.py >ready &
job=$!
trap 'kill $job 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
wait_until grep -q ready ready

run "$PLATEAU" try "$job" gc --dry-run
expect_code 0
expect_in out "Runs a full gc.collect() inside process $job"
expect_in out "Nothing was done"

run "$PLATEAU" try "$job" gc --json --timeout 60s --wait 60s
expect_code 0
expect_in out '"finding":"cycles"'
expect_in out '"experiment":"gc"'

# What the cycles held is free now but still resident: the allocator has it.
run "$PLATEAU" try "$job" trim --timeout 60s
expect_code 0
expect_in out "Calls malloc_trim(0) inside process $job"
expect_in out "glibc: in use"
expect_in out "Retention: resident memory fell by"

run "$PLATEAU" try "$job" trim --json --timeout 60s
expect_code 0
expect_in out '"finding":"neither"'
kill -0 "$job" || fail "the process is gone"

kill -STOP "$job"
run "$PLATEAU" try "$job" trim
expect_code 2
expect_one_line err
expect_in err "is stopped"
kill -CONT "$job"

run "$PLATEAU" try 4194303 trim
expect_code 2
expect_in err "no such process"
run "$PLATEAU" try "$job"
expect_code 2
expect_in err "say which experiment"
run "$PLATEAU" try "$job" magic
expect_code 2
run "$PLATEAU" try twelve trim
expect_code 2
expect_in err "PID must be a process id"
