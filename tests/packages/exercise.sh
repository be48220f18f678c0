#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What an installed Plateau must do, wherever it came from: exercise.sh PLATEAU PYTHON LOG VERSION [PYTEST]
# PYTHON is an interpreter that imports the client. PYTEST, if it is given, is one that has pytest too. Needs nothing
# of the repository but the log, so that it also runs inside another system.
set -euo pipefail
plateau=$1 python=$2 log=$3 version=$4 pytest=${5:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

[ "$("$plateau" --version)" = "plateau $version" ] || fail "another version: $("$plateau" --version)"
"$plateau" judge --json "$log" >answer.json || [ $? -le 4 ] || fail "judge ended with $?"
"$python" -c 'import json; assert json.load(open("answer.json"))["verdict"]' || fail "no verdict"

# The tracer is found and works in this interpreter; the growth is named by its line.
cat >job.py <<'PY'
import time
kept = []
def remember():
    kept.append(bytearray(300_000))
for step in range(1, 121):
    remember()
    print("step", step, flush=True)
    time.sleep(0.01)
PY
"$plateau" run --heap -q -o job.plateau -- "$python" job.py >out 2>err || true
[ "$(tail -1 out)" = "step 120" ] || fail "the job did not run to its end: $(tail -3 out err)"
"$plateau" profile job.plateau >sites 2>&1 || true
grep -q 'remember' sites || fail "the heap track does not name the line that grows: $(cat err sites)"

# It gets into a job that runs already. Whether this user may is the machine's choice, and said in its own words.
sed 's/range(1, 121)/range(1, 1000)/' job.py >long.py
"$python" long.py >long.out 2>&1 &
job=$!
for _ in $(seq 100); do [ ! -s long.out ] || break; sleep 0.1; done
"$plateau" profile "$job" --for 3s >sites 2>&1 || true
kill "$job" 2>/dev/null || true
grep -qE 'remember|may not be traced|not permitted|ptrace' sites || fail "the tracer does not get into a running job: $(cat sites)"

# The module that learns steps comes into the job by itself; the client says steps to the watcher.
[ "$("$plateau" run --no-recording -q -- "$python" -c 'import sys; print("plateau_auto" in sys.modules)')" = True ] ||
  fail "the zero-code module is not in the job"
cat >said.py <<'PY'
import time
import plateau
p = plateau.start(every=1)
for step in range(1, 31):
    p.step(step)
    time.sleep(0.02)
time.sleep(0.5)  # For a watcher that the machine starves.
print(plateau.__version__)
PY
[ "$("$plateau" run -q -o said.plateau -- "$python" said.py)" = "$version" ] || fail "'import plateau' is of another version"
"$plateau" judge --json said.plateau >said.json || [ $? -le 4 ]
"$python" -c 'import json; assert json.load(open("said.json"))["steps"]["last"] > 10' || fail "the steps were not heard: $(cat said.json)"

"$plateau" doctor --json >doctor.json || true
"$python" - <<'PY' || fail "doctor misses a part of the installation: $(cat doctor.json)"
import json
states = {check["name"]: check["state"] for check in json.load(open("doctor.json"))["checks"]}
assert states["tracer"] == states["steps"] == "works", states
PY

[ -n "$pytest" ] || exit 0
cat >test_growth.py <<'PY'
import pytest
kept = []

@pytest.mark.plateau(max_growth="100kB")
def test_leaves_a_lot_behind():
    kept.append(bytearray(1_000_000))

@pytest.mark.plateau(max_growth="100kB")
def test_leaves_nothing_behind():
    bytearray(1_000_000)
PY
"$pytest" -m pytest -q -p no:cacheprovider test_growth.py >tests 2>&1 && fail "the plugin let a leak pass: $(cat tests)"
grep -q '1 failed, 1 passed' tests || fail "not one of two: $(cat tests)"
grep -qF 'kept' tests || fail "the plugin does not name the holder: $(cat tests)"
