#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --wandb and --mlflow use the packages of the job's own interpreter, without a network: what is
# logged is there afterwards. Where a package is missing that is said once, and the job goes on.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

cat >job.py <<'PY'
import sys, time
hold = []
for step in range(1, 41):
    hold.append(bytearray(b"x") * 2_000_000)
    print("Step %d: loss 0.3" % step, flush=True)
    time.sleep(0.2)
PY
# An interpreter without any package.
bare() { run "$PLATEAU" run --no-plot --no-recording -q "$@"; }
mkdir bin
cat >bin/python-bare <<'SH'
#!/bin/sh
exec /usr/bin/python3 -I -S "$@"
SH
chmod +x bin/python-bare
bare --wandb --mlflow -- "$PWD/bin/python-bare" job.py
expect_code 0
for package in wandb mlflow; do
  [ "$(grep -c "$package: the package is not there" err)" -eq 1 ] || fail "not said once of $package: $(cat err)"
done

python=${PLATEAU_TRACKERS_PYTHON:-$("$SOURCE_DIR/tools/stack.sh" 2>/dev/null || true)}
if [ -n "$python" ] && "$python" -c 'import wandb' 2>/dev/null; then
  WANDB_MODE=offline WANDB_DIR=$PWD bare --wandb -- "$python" job.py
  expect_code 0
  expect_in err "wandb: curves go to run"
  run "$PLATEAU" judge --json "$(echo wandb/offline-run-*)"
  python3 -c 'import json; answer = json.load(open("out")); assert answer["last_mb"] > 60, answer["last_mb"]' ||
    fail "the run does not hold the curves: $(cat out err)"
else
  echo "wandb itself is not installed: only its absence was tested"
fi
if [ -n "$python" ] && "$python" -c 'import mlflow' 2>/dev/null; then
  MLFLOW_TRACKING_URI=file://$PWD/mlruns MLFLOW_ALLOW_FILE_STORE=true bare --mlflow -- "$python" job.py
  expect_code 0
  expect_in err "mlflow: curves go to run"
  metric=$(echo mlruns/*/*/metrics/memory/owned_mb)
  [ "$(wc -l <"$metric")" -ge 2 ] || fail "no curve: $(find mlruns)"
  grep -rq . mlruns/*/*/tags/plateau.verdict || fail "no verdict: $(find mlruns)"
else
  echo "mlflow itself is not installed: only its absence was tested"
fi
