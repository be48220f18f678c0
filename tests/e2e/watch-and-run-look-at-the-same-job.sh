#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two watchers and the run that started it see one job; both watchers hear the steps that only the
# run was told; none of them changes what the others see, and the job ends as it would.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >train.py <<'PY'
import os, sys, time
sys.path.insert(0, os.environ["CLIENT"])
import plateau
p = plateau.start(total_steps=300, examples=400, batch=4)
for step in range(1, 301):
    time.sleep(0.015)
    p.on_step_end(step)
sys.exit(5)
PY
CLIENT=$SOURCE_DIR/clients/python "$PLATEAU" run -q -o run.plateau -- \
  /usr/bin/python3 train.py >run.out 2>run.err &
runner=$!
sleep 1
pid=$(pgrep -P "$runner" -f train.py | head -1)
"$PLATEAU" watch "$pid" --json --interval 0.2s >one.json 2>one.err &
first=$!
run "$PLATEAU" watch "$pid" --json --interval 0.2s
cp out two.json
wait "$first" || true
status=0
wait "$runner" || status=$?
[ "$status" -eq 5 ] || fail "the job's exit code 5 came out as $status: $(cat run.err)"
python3 - <<'PY'
import json
for name in ("one.json", "two.json"):
    verdict = json.loads(open(name).read().splitlines()[-1])
    assert verdict["steps"]["last"] >= 280, (name, verdict["steps"])
    assert verdict["steps"]["first"] >= 20, (name, verdict["steps"])
    assert verdict["epoch_steps"] == 100, (name, verdict["epoch_steps"])
PY
run "$PLATEAU" judge run.plateau --json
expect_in out '"epoch_steps":100'
