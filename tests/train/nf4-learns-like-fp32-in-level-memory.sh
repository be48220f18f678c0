#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The case of the README with weights in fp32 and in four bits: three epochs, 504 steps each.
# Evaluations become better, most answers right, and resident memory is level after the warm-up, as
# plateau run sees it from outside. Four bits learn what thirty-two learn, within what another seed
# changes too (docs/trainer.md: 74 to 92 of 96 answers with the same weights and 600 steps).
. "$(dirname "$0")/train_lib.sh"

"$TRAINER" init --preset tiny -o tiny --examples 1344 --eval-examples 96 >/dev/null

# learn BITS: trains, checks memory, leaves "EVAL_LOSS RIGHT" in score-BITS.
learn() {
  local verdict=verdict-$1.json into=trained-$1
  run "$PLATEAU" run --json -o "job-$1.plateau" -- "$TRAINER" train -m tiny/model -d tiny/train.jsonl \
    --eval-dataset tiny/eval.jsonl -o "$into" "--load-in-$1bit" --save-method lora --threads 1 --batch-size 8 \
    --gradient-accumulation-steps 1 --use-gradient-checkpointing false --learning-rate 1e-3 --lora-alpha 64 \
    --lr-scheduler-type linear --eval-steps 252 --save-steps 252
  expect_code 0
  "$PLATEAU" judge --json "job-$1.plateau" >"$verdict" || true
  python3 - "$into/log.jsonl" "$verdict" >loss <<'PY' || fail "$1 bits: $(tail -3 "$into/log.jsonl") $(cat "$verdict")"
import json, sys
verdict = json.load(open(sys.argv[2]))
# Anonymous memory is 90 MB here and moves in steps of one or two; in one of five runs, on a starved
# machine, that left the question open. Growth is told from it by the floors below.
open_question = verdict["verdict"] == "undecided" and verdict["growth"]["rate_low"] <= 0
assert verdict["verdict"] == "plateau" or open_question, verdict["verdict"]
steps, evals = [], []
for line in open(sys.argv[1]):
    entry = json.loads(line)
    if "eval_loss" in entry:
        evals.append(entry["eval_loss"])
    elif "resident_bytes" in entry:
        steps.append(entry["resident_bytes"])
assert len(steps) == 504, len(steps)
assert evals[-1] < evals[0], evals
# The floor of a tenth of the run, after the warm-up and at the end: 1.0 to 1.4 of 150 MB come within
# the first 100 steps, 0.2 to 0.5 after them. 1 % over 350 steps is 4 KB a step.
early, late = min(steps[100:150]), min(steps[-50:])
assert late < early * 1.01, (early, late)
print(evals[-1])
PY
  run "$TRAINER" ask -m tiny/model -a "$into/adapter" -d tiny/eval.jsonl "--load-in-$1bit" --threads 1 -q
  expect_code 0
  echo "$(cat loss) $(grep -oE '^[0-9]+' err)" >"score-$1"
}
learn 32
learn 4
read -r loss_32 right_32 <score-32
read -r loss_4 right_4 <score-4
scores="fp32: loss $loss_32, $right_32 of 96 right; NF4: loss $loss_4, $right_4 right"
echo "$scores"
[ "$right_32" -ge 48 ] || fail "too few answers are right: $scores"
# A fifth of the answers and a third of the loss: twice what seeds differ by.
[ "$right_4" -ge $((right_32 - 19)) ] || fail "$scores"
python3 -c "import sys; sys.exit($loss_4 > 1.35 * $loss_32)" || fail "$scores"
