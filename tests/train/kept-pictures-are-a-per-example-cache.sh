#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The growth of the production logs, made for real: --keep-decoded keeps every decoded picture, memory
# grows for the first epoch, and plateau run says what it is and that it ended.
. "$(dirname "$0")/train_lib.sh"

"$TRAINER" init --preset tiny -o tiny --examples 480 --eval-examples 8 --side 448 >/dev/null
run "$PLATEAU" run --json -o kept.plateau --interval 0.05 -- "$TRAINER" train -m tiny/model -d tiny/train.jsonl \
  -o unused --only collate --keep-decoded --batch-size 2 --gradient-accumulation-steps 2 --epochs 3 --threads 1 \
  --load-in-32bit --max-pixels 7056
expect_code 0
"$PLATEAU" judge --json kept.plateau >verdict.json || true
python3 - <<'PY' || fail "$(cat verdict.json)"
import json
verdict = json.load(open("verdict.json"))
assert verdict["verdict"] == "plateau", verdict["verdict"]
assert verdict["causes"][0]["name"] == "per-example-cache", verdict["causes"]
assert abs(verdict["settled"]["step"] - 120) <= 12, verdict["settled"]
PY
run "$PLATEAU" run --json -o level.plateau --interval 0.05 -- "$TRAINER" train -m tiny/model -d tiny/train.jsonl \
  -o unused --only collate --batch-size 2 --gradient-accumulation-steps 2 --epochs 3 --threads 1 \
  --load-in-32bit --max-pixels 7056
expect_code 0
"$PLATEAU" judge --json level.plateau >level.json || true
python3 - <<'PY' || fail "$(cat level.json)"
import json
verdict = json.load(open("level.json"))
assert verdict["verdict"] == "plateau", verdict["verdict"]
PY
