#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --packing: an epoch of packed rows has the loss of its examples alone, loses none, tells its steps, resumes to the bit,
# and its peak is within the plan, which speaks of rows.
. "$(dirname "$0")/train_lib.sh"

# field FILE NAME...: of the first line of a log that has them all.
field() {
  python3 - "$@" <<'PY'
import json, sys
for line in open(sys.argv[1]):
    entry = json.loads(line)
    if all(name in entry for name in sys.argv[2:]):
        print(*(entry[name] for name in sys.argv[2:]))
        break
PY
}

small_case 24
longest=$("$TRAINER" plan -m tiny/model -d tiny/train.jsonl --load-in-32bit --json |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["largest_example"]["tokens"])')
rows=(--max-seq-length $((longest * 4)))
# One step that is the whole epoch: whatever shares a row, the loss is the same, and so are the gradients and the tokens.
whole=(--batch-size 24 --gradient-accumulation-steps 1 --max-steps 1 --warmup-steps 0 --learning-rate 1e-3
  --eval-dataset tiny/eval.jsonl --eval-steps 1 "${rows[@]}")
train alone "${whole[@]}"
expect_code 0
train packed "${whole[@]}" --packing
expect_code 0
expect_in out "Packed: 24 examples in"
expect_in out ", 1 step an epoch"
python3 - "$(field alone/log.jsonl loss grad_norm tokens)" "$(field packed/log.jsonl loss grad_norm tokens)" <<'PY' ||
import sys
alone, packed = ([float(word) for word in text.split()] for text in sys.argv[1:3])
assert alone[2] == packed[2], (alone, packed)
assert all(abs(a - b) < 1e-5 * a for a, b in zip(alone, packed)), (alone, packed)
PY
  fail "losses, gradients or tokens differ"
python3 - "$(field alone/log.jsonl eval_loss)" "$(field packed/log.jsonl eval_loss)" <<'PY' || fail "evaluations differ"
import sys
alone, packed = (float(text) for text in sys.argv[1:3])
assert abs(alone - packed) < 1e-3 * alone, (alone, packed)
PY

# Several rows a batch, several batches a step, workers, a stop in the middle of an epoch.
options=(--batch-size 2 --gradient-accumulation-steps 2 --epochs 2 --learning-rate 1e-3 --dataloader-num-workers 2
  --warmup-steps 2 --packing "${rows[@]}")
train unbroken "${options[@]}"
expect_code 0
python3 - <<'PY' || fail "the planned peak is below the measured one: $(cat out)"
import re
rows = [line for line in open("out") if line.split()[:1] == ["peak"]]
unit = {"kB": 1e3, "MB": 1e6, "GB": 1e9}
planned, measured = (float(n) * unit[u] for n, u in re.findall(r"([\d.]+) (kB|MB|GB)", rows[-1])[:2])
assert measured * 0.995 <= planned <= measured * 1.3, (planned, measured)
PY
train broken "${options[@]}" --memory-limit 1
expect_code 30
run "$TRAINER" train -m tiny/model -d tiny/train.jsonl -o broken --threads 1 --load-in-32bit --save-method lora \
  "${options[@]:0:${#options[@]}-3}" "${rows[@]}" --resume
expect_code 2
expect_in err "was written with other settings"
train broken "${options[@]}" --resume
expect_code 0
losses unbroken >unbroken.txt
losses broken >broken.txt
cmp unbroken.txt broken.txt || fail "losses differ"
cmp unbroken/adapter/adapter_model.safetensors broken/adapter/adapter_model.safetensors || fail "adapters differ"

train stage --only data --batch-size 2 --gradient-accumulation-steps 1 --epochs 1 --packing "${rows[@]}"
expect_code 0
run "$TRAINER" plan --preset qwen2.5-vl-3b --tokens 512 --pixels 200704 --packing --json
expect_code 0
expect_in out '"largest_row":{"tokens":2048,'
