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
# On top of the heap, or the C library would give back by itself what is freed below.
pins = [bytes(1000) for _ in range(64)]
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

run "$PLATEAU" try "$job" gc --json --timeout 60s --wait 60s --look 0.2s
expect_code 0
expect_in out '"finding":"cycles"'
expect_in out '"experiment":"gc"'

# What the cycles held is free now but still resident: the allocator has it.
run "$PLATEAU" try "$job" trim --timeout 60s
expect_code 0
expect_in out "Calls malloc_trim(0) inside process $job"
expect_in out "glibc: in use"
expect_in out "Retention: resident memory fell by"
expect_in out "memory did not grow"

run "$PLATEAU" try "$job" trim --json --timeout 60s --look 0.2s
expect_code 0
expect_in out '"goes_on":false'
expect_in out '"finding":"neither"'
kill -0 "$job" || fail "the process is gone"

kill -STOP "$job"
run "$PLATEAU" try "$job" trim
expect_code 2
expect_one_line err
expect_in err "is stopped"
kill -CONT "$job"

# A leak of 10 MB/s beside memory that was freed and kept: what comes back is no all-clear.
cat >mixed.py <<'PY'
import ctypes, time
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
def block(size):
    at = libc.malloc(size)
    libc.memset(at, 1, size)
    return at
blocks = [block(60_000) for _ in range(1000)]
for number, at in enumerate(blocks):
    if number % 10:
        libc.free(at)
print("ready", flush=True)
while True:
    block(2_000_000)
    time.sleep(0.2)
PY
/usr/bin/python3 mixed.py >mixed &
mixed=$!
trap 'kill $job $mixed 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
wait_until grep -q ready mixed
run "$PLATEAU" try "$mixed" trim --timeout 60s
expect_code 0
tr '\n' ' ' <out | tr -s ' ' >told
grep -qE 'resident memory fell by [45][0-9]\.[0-9] MB' told || fail "how much came back is not told: $(cat out)"
grep -qE 'Memory grows on: \+[0-9.]+ MB/s in the 2 s before, \+[0-9.]+ MB/s in the 2 s after' told ||
  fail "that the rest grows is not told: $(cat out)"
expect_not_in told "not a leak"
kill "$mixed"

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
