#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `plateau serve DIR` beside a job that runs: the list names it as live, events come while it grows
# and when it ends, the verdict is the one that judge gives, and SIGTERM ends the server with 0.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >train.py <<'PY'
import os, time
kept = []
for step in range(1, 10000):
    kept.append(bytearray(b"x" * 200_000))
    print(f"Step {step}", flush=True)
    time.sleep(0.02)
    if os.path.exists("enough"):
        break
PY
"$PLATEAU" run -q -o job.plateau -- /usr/bin/python3 train.py >job.out 2>job.err &
job=$!
"$PLATEAU" serve . --listen 127.0.0.1:0 >address 2>serve.err &
server=$!
# shellcheck disable=SC2064
trap "kill $server 2>/dev/null || true; touch enough; wait; rm -rf '$SCRATCH'" EXIT
wait_until grep -q http address
url=$(cat address)
expect_one_line address
curl -sf "${url}healthz" | grep -qx ok || fail "not healthy"
wait_until grep -q 'Step 40' job.out

listed() { curl -sf "${url}api/runs" | grep -q '"name":"job.plateau","live":true,"word":"'; }
wait_until listed
curl -sN "${url}events" >events &
listener=$!
wait_until grep -q 'event: state' events
two_states() { [ "$(grep -c 'event: state' events)" -ge 2 ]; }
wait_until two_states
touch enough
wait "$job" || fail "the job failed: $(cat job.err)"
wait_until grep -q '"live":false' events

curl -sf "${url}api/verdict" >served.json
"$PLATEAU" judge --json job.plateau >judged.json || true
python3 - <<'PY'
import json
served, judged = json.load(open("served.json")), json.load(open("judged.json"))
served.pop("file"), judged.pop("file")
assert served == judged, (served, judged)
versions = [json.loads(line[5:])["version"] for line in open("events") if line.startswith("data:")]
assert versions == sorted(set(versions)), versions
PY
curl -sf --compressed "${url}api/page" >page.json
python3 -c 'import json; assert json.load(open("page.json"))["runs"][0]["samples"]["taken"] > 10'

kill "$listener"
kill -TERM "$server"
status=0
wait "$server" || status=$?
[ "$status" -eq 0 ] || fail "serve ended with $status: $(cat serve.err)"
