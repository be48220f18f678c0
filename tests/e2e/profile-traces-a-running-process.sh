#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# profile PID --for loads the tracer into a process that runs, names the call that leaks, and leaves
# the process running without it.
. "$(dirname "$0")/lib.sh"

cat >leaking.py <<'PY'
import time

kept = []


def forget_me_not():
    kept.append(bytearray(300_000))


while True:
    forget_me_not()
    time.sleep(0.005)
PY
/usr/bin/python3 leaking.py &
pid=$!
trap 'kill "$pid"' EXIT

run "$PLATEAU" profile "$pid" --for 4s --json
[ "$code" -ne 2 ] || fail "it failed: $(cat err)"
grep -q 'forget_me_not' out || fail "the site is not named: $(cat out err)"
grep -q 'loading the heap tracer into process' err || fail "it did not say what it does: $(cat err)"
kill -0 "$pid" || fail "the process did not survive"
grep -q 'libplateau_tracer' "/proc/$pid/maps" && fail "the tracer is still loaded"

run "$PLATEAU" profile "$pid"
expect_code 2
grep -q -- '--for' err || fail "the refusal does not say what to try: $(cat err)"
