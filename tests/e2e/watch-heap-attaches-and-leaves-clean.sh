#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `plateau watch PID --heap` loads the tracer into a running process, records its heap, and takes
# the tracer out again; the process goes on.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >grow.py <<'PY'
import time
kept = []
print("ready", flush=True)
while True:
    kept.append(bytearray(200_000))
    if len(kept) > 2000:
        kept.clear()
    time.sleep(0.005)
PY
/usr/bin/python3 grow.py >ready &
job=$!
trap 'kill $job 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
wait_until grep -q ready ready

run "$PLATEAU" watch "$job" --heap
expect_code 2
expect_in err "--heap needs a recording"

run "$PLATEAU" watch "$job" --heap -o heap.plateau --for 4s -q
expect_in err "the heap tracer was loaded into process $job"
kill -0 "$job" || fail "the process is gone"
! grep -q -e plateau -e '\.segment' "/proc/$job/maps" || fail "something was left in the process"
run "$PLATEAU" dump heap.plateau --records
expect_code 0
expect_in out "heap"
