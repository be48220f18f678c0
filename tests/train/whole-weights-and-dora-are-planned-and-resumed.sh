#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --full-finetuning and --use-dora: the planned peak is not below the measured one, not in a resumed run either, where the
# checkpoint is as large as the model; a resumed run ends in the same bytes; a frozen tower stays as it was.
. "$(dirname "$0")/train_lib.sh"

# peaks: planned and measured, in bytes, of the last run.
peaks() {
  python3 - <<'PY'
import re
rows = [line.split() for line in open("out") if line.split()[:1] == ["peak"]]
unit = {"kB": 1e3, "MB": 1e6, "GB": 1e9}
found = re.findall(r"([\d.]+) (kB|MB|GB)", " ".join(rows[-1]))
print(*(int(float(n) * unit[u]) for n, u in found[:2]))
PY
}
expect_covered() {
  local planned measured
  read -r planned measured < <(peaks)
  [ "$planned" -ge $((measured * 995 / 1000)) ] || fail "$1: planned $planned, measured $measured"
  [ "$planned" -le $((measured * 130 / 100)) ] || fail "$1: planned $planned, far above $measured"
}
whole() {
  local into=$1
  shift
  run "$TRAINER" train -m "$model" -d "${model%/*}/train.jsonl" -o "$into" --threads 1 --gradient-accumulation-steps 1 \
    --batch-size 2 --warmup-steps 0 --learning-rate 1e-3 "$@"
}

"$TRAINER" init --preset small -o small --examples 8 --eval-examples 2 >/dev/null
model=small/model
whole peak --full-finetuning --max-steps 2
expect_code 0
expect_in out "trained "
expect_covered "all weights"
whole peak --full-finetuning --max-steps 3 --resume
expect_code 0
expect_covered "all weights, resumed"
whole dora --use-dora --load-in-32bit --max-steps 2 --use-gradient-checkpointing false --save-method lora
expect_code 0
expect_covered "DoRA"

small_case 12
model=tiny/model
for kind in "--full-finetuning --finetune-vision-layers false" "--use-dora"; do
  rm -rf unbroken broken
  # shellcheck disable=SC2086 # Words of an option list.
  whole unbroken $kind --max-steps 6 --save-steps 3
  expect_code 0
  # shellcheck disable=SC2086
  whole broken $kind --max-steps 6 --save-steps 3 --memory-limit 1
  expect_code 30
  # shellcheck disable=SC2086
  whole broken $kind --max-steps 6 --save-steps 3 --resume
  expect_code 0
  result=merged
  [ -d unbroken/merged ] || result=model
  cmp "unbroken/$result/model.safetensors" "broken/$result/model.safetensors" || fail "$kind: resumed, other bytes"
  [ "$result" = merged ] || cp "unbroken/model/model.safetensors" whole.safetensors
done
python3 - <<'PY' || fail "what was frozen changed, or what was trained did not"
import json, struct
def tensors(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            yield name, data[8 + size + begin:8 + size + end]
before, after = dict(tensors("tiny/model/model.safetensors")), dict(tensors("whole.safetensors"))
assert before.keys() == after.keys()
for name in before:
    assert (before[name] == after[name]) == ("visual." in name), name
PY

for wrong in "--full-finetuning --load-in-4bit" "--full-finetuning --lora-r 8" "--full-finetuning --save-method lora" \
  "--use-dora --lora-dropout 0.1"; do
  # shellcheck disable=SC2086
  whole wrong $wrong
  expect_code 2
  expect_one_line err
done
