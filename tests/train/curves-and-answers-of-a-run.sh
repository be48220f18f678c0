#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every step and evaluation is in log.jsonl and, with --tensorboard, in event files whose figures are the same; a run that
# goes on voids what it does again. Answers generated at evaluations are counted as `ask` counts them, and change no weight.
. "$(dirname "$0")/train_lib.sh"

small_case 40
options=(--batch-size 4 --gradient-accumulation-steps 1 --max-steps 40 --learning-rate 1e-2 --warmup-ratio 0.1
  --eval-dataset tiny/eval.jsonl --eval-steps 20)
train plain "${options[@]}"
expect_code 0
train answered "${options[@]}" --eval-generate 6 --max-new-tokens 40 --tensorboard
expect_code 0
cmp plain/adapter/adapter_model.safetensors answered/adapter/adapter_model.safetensors || fail "answering changed what is trained"
grep -q "of 6 answers right, [0-9]* of [0-9]* JSON fields" err || fail "no word of answers: $(cat err)"

run "$TRAINER" ask -m tiny/model -a answered/checkpoint-40 -d tiny/eval.jsonl --load-in-32bit --threads 1 --count 6 \
  --max-new-tokens 40 -q
expect_code 0
python3 - answered/log.jsonl "$(cat err)" <<'PY' || fail "log.jsonl and ask differ"
import json, re, sys
entries = [json.loads(line) for line in open(sys.argv[1])]
steps = [entry for entry in entries if "loss" in entry]
assert [entry["step"] for entry in steps] == list(range(1, 41))
wanted = {"epoch", "loss", "learning_rate", "grad_norm", "tokens", "seconds", "resident_bytes", "tensor_bytes"}
assert all(wanted <= entry.keys() for entry in steps), steps[0]
rates = [entry["learning_rate"] for entry in steps]
assert rates.index(max(rates)) == 4 and abs(max(rates) - 1e-2) < 1e-12, rates  # ceil(0.1 * 40)
last = [entry for entry in entries if "eval_loss" in entry][-1]
right, fields, of = map(int, re.search(r"(\d+) of 6 answers are right, (\d+) of (\d+) JSON fields", sys.argv[2]).groups())
assert last["answers"] == 6 and last["fields"] == of, last
assert abs(last["eval_exact_match"] - right / 6) < 1e-9 and abs(last["eval_json_fields"] - fields / of) < 1e-9, last
assert 0 < last["eval_json_fields"], "nothing was learned: the comparison says little"
state = json.load(open("answered/checkpoint-40/trainer_state.json"))
assert [e for e in state["log_history"] if "eval_json_fields" in e][-1]["eval_json_fields"] == last["eval_json_fields"]
PY

train answered "${options[@]}" --resume=answered/checkpoint-20 --tensorboard --eval-generate 6 --max-new-tokens 40
expect_code 0
[ "$(find answered/tensorboard -name 'events.out.tfevents.*' | wc -l)" -eq 2 ] || fail "not one event file a run"
train elsewhere "${options[@]}" --tensorboard=/proc/no
expect_code 2
expect_one_line err
train elsewhere "${options[@]}" --warmup-steps 3
expect_code 2
expect_one_line err

python=$("$SOURCE_DIR/tools/stack.sh" 2>/dev/null) || exit 0
"$python" - 2>why <<'PY' || fail "TensorBoard reads something else: $(cat why)"
import json
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator("answered/tensorboard")
events.Reload()
entries = [json.loads(line) for line in open("answered/log.jsonl")]
steps = {entry["step"]: entry for entry in entries if "loss" in entry}
for tag, key, scale in (("train/loss", "loss", 1), ("train/learning_rate", "learning_rate", 1), ("train/grad_norm", "grad_norm", 1),
                        ("train/tokens", "tokens", 1), ("memory/resident_mb", "resident_bytes", 1e-6)):
    points = events.Scalars(tag)
    assert [point.step for point in points] == list(range(1, 41)), (tag, [point.step for point in points])
    for point in points:
        # Resident memory of the steps before the checkpoint is the earlier run's in both.
        assert abs(point.value - steps[point.step][key] * scale) <= 1e-5 * abs(point.value) + 1e-12, (tag, point, steps[point.step])
assert [point.step for point in events.Scalars("eval/loss")] == [20, 40]
assert {"eval/exact_match", "eval/json_valid", "eval/json_fields", "train/tokens_per_second"} <= set(events.Tags()["scalars"])
PY
