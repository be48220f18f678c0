#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `plateau run --serve`: the address is printed before the job's first line matters, the page follows
# the job and hears of its end; killing the server leaves job, recording and exit code as they are;
# killing plateau leaves no server behind.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >train.py <<'PY'
import os, sys, time
for step in range(1, 10000):
    print(f"Step {step}", flush=True)
    time.sleep(0.02)
    if os.path.exists(sys.argv[1]):
        sys.exit(7)
PY
trap 'touch end1 end2 end3; wait; rm -rf "$SCRATCH"' EXIT
address_in() { sed -n 's/^plateau: live at //p' "$1"; }
server_of() { pgrep -P "$1" plateau-serve; }

# The page hears of the end and can still fetch the last state.
"$PLATEAU" run --serve=127.0.0.1:0 -q -o one.plateau -- /usr/bin/python3 train.py end1 >one.out 2>one.err &
runner=$!
wait_until grep -q 'live at' one.err
url=$(address_in one.err)
wait_until grep -q 'Step 20' one.out
curl -sN "${url}events" >events &
wait_until grep -q 'event: state' events
curl -sf "${url}api/runs" | grep -q '"name":"one.plateau","live":true' || fail "not listed as live"
touch end1
status=0
wait "$runner" || status=$?
[ "$status" -eq 7 ] || fail "the job's exit code 7 came out as $status"
expect_in events '"live":false'
! curl -sf "${url}healthz" >/dev/null || fail "the server outlived the job"
expect_in one.out 'Step 20'

# Its death is nobody's business.
"$PLATEAU" run --serve=127.0.0.1:0 -q -o two.plateau -- /usr/bin/python3 train.py end2 >two.out 2>two.err &
runner=$!
wait_until server_of "$runner"
wait_until grep -q 'Step 10' two.out
kill -9 "$(server_of "$runner")"
at=$(tail -1 two.out | tr -dc 0-9)
wait_until grep -q "Step $((at + 50))" two.out
touch end2
status=0
wait "$runner" || status=$?
[ "$status" -eq 7 ] || fail "without its server the exit code 7 came out as $status"
run "$PLATEAU" dump two.plateau
expect_code 0
run "$PLATEAU" judge --json two.plateau
python3 -c 'import json; assert json.load(open("out"))["steps"]["last"] >= '"$((at + 40))"
# The server is no process of the job.
run "$PLATEAU" dump two.plateau
expect_not_in out plateau-serve

# And it never outlives plateau.
"$PLATEAU" run --serve=127.0.0.1:0 -q -o three.plateau -- /usr/bin/python3 train.py end3 >three.out 2>three.err &
runner=$!
wait_until server_of "$runner"
server=$(server_of "$runner")
wait_until pgrep -P "$runner" -x python3
job=$(pgrep -P "$runner" -x python3)
kill -9 "$runner"
wait "$runner" || true
wait_until gone "$server"
# The job goes on, until it is told.
touch end3
wait_until gone "$job"
