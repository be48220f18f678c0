#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run --expect: exit 0 if memory does what was expected, else not 0 with a line that says what was
# missed; a job that fails by itself keeps its code.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# grow.py MB STEPS: warms up over 20 steps by 2 MB each, then grows by MB each.
cat >grow.py <<'PY'
import sys, time
hold = []
for step in range(1, int(sys.argv[2]) + 1):
    hold.append(bytearray(b"x") * int(1e6 * (2 if step <= 20 else float(sys.argv[1]))))
    print("Step %d: loss 0.3" % step, flush=True)
    time.sleep(0.06)
PY

run "$PLATEAU" run -o flat.plateau --expect plateau --settle-by 60 --spread 30MB -- python3 grow.py 0 120
expect_code 0

run "$PLATEAU" run -o leak.plateau --expect plateau --settle-by 60 --spread 30MB -- python3 grow.py 2 120
[ "$code" -ne 0 ] || fail "a growing job passed --expect plateau"
[ "$code" -ne 2 ] || fail "a growing job is reported as trouble: $(cat err)"
grep -q '^plateau run: ' err || fail "nothing says what was missed: $(cat err)"

run "$PLATEAU" run -o narrow.plateau --expect plateau --settle-by 2 -- python3 grow.py 0 120
[ "$code" -ne 0 ] || fail "a job that settles late passed --settle-by 2"
expect_in err "plateau run: "

run "$PLATEAU" run --no-recording --expect plateau -- sh -c 'exit 77'
expect_code 77
