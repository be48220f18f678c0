#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The case of the README: three epochs, 504 steps. Evaluations become better, most answers right, and
# resident memory is level from step 3 on, as plateau run sees it from outside.
. "$(dirname "$0")/train_lib.sh"

"$TRAINER" init --preset tiny -o tiny --examples 1344 --eval-examples 48 >/dev/null
run "$PLATEAU" run --json -o job.plateau -- "$TRAINER" train -m tiny/model -d tiny/train.jsonl \
  --eval-dataset tiny/eval.jsonl -o trained --load-in-32bit --save-method lora --threads 1 --batch-size 8 \
  --gradient-accumulation-steps 1 --use-gradient-checkpointing false --learning-rate 1e-3 --lora-alpha 64 \
  --lr-scheduler-type linear --eval-steps 126 --save-steps 252
expect_code 0
"$PLATEAU" judge --json job.plateau >verdict.json || fail "judged: $(cat verdict.json)"
python3 - <<'PY' || fail "$(tail -3 trained/log.jsonl) $(cat verdict.json)"
import json
verdict = json.load(open("verdict.json"))
assert verdict["verdict"] == "plateau", verdict["verdict"]
steps, evals = [], []
for line in open("trained/log.jsonl"):
    entry = json.loads(line)
    if "eval_loss" in entry:
        evals.append(entry["eval_loss"])
    elif "resident_bytes" in entry:
        steps.append(entry["resident_bytes"])
assert len(steps) == 504, len(steps)
assert evals[-1] < evals[0] / 2, evals
# The floor of a tenth of the run, at its beginning and at its end; steps 1 and 2 allocate.
early, late = min(steps[2:52]), min(steps[-50:])
assert late < early * 1.01, (early, late)
PY
run "$TRAINER" ask -m tiny/model -a trained/adapter -d tiny/eval.jsonl --load-in-32bit -q
expect_code 0
right=$(grep -oE '^[0-9]+' err)
[ "$right" -ge 24 ] || fail "only $right of 48 answers are right"
