#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Given a worker's pid, watch finds the wrapper, the main process and the other worker, and names
# their roles; steps come from the file the job prints to; when the job ends, the verdict is said.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >train.py <<'PY'
import os, sys, time
kept = []
for _ in range(2):
    worker = os.fork()
    if worker == 0:
        time.sleep(30)
        os._exit(0)
open("worker", "w").write(str(worker))
for step in range(1, 401):
    kept.append(bytearray(200_000))
    print(f"Step {step}: loss 0.5", flush=True)
    time.sleep(0.01)
os.killpg(0, 15)
PY
setsid sh -c '/usr/bin/python3 train.py; :' >train.log 2>&1 &
wait_until grep -q 'Step 10:' train.log
# By what it wrote: other tests have a train.py too.
worker=$(cat worker)

run "$PLATEAU" watch "$worker" --for 60s --interval 0.1s --json --epoch-steps 100 -o seen.plateau
# The job leaks beyond four of its epochs and then ends.
expect_code 1
python3 - <<'PY'
import json
lines = [json.loads(line) for line in open("out")]
states, verdict = lines[:-1], lines[-1]
assert verdict["verdict"] == "leak", verdict["verdict"]
assert verdict["process"]["role"] == "main", verdict["process"]
assert verdict["steps"]["last"] >= 350, verdict["steps"]
roles = {p["role"] for s in states for p in s["processes"]}
assert {"wrapper", "main", "data worker"} <= roles, roles
assert max(len(s["processes"]) for s in states) == 4
PY
run "$PLATEAU" judge seen.plateau --json --epoch-steps 100
expect_code 1
run "$PLATEAU" dump seen.plateau
expect_in out "train.py"
