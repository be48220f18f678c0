#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Both datasets are checked before step 1, and the result is remembered; a picture that breaks later
# leads to a checkpoint; a mended dataset goes on with a word of consent, to the bit.
. "$(dirname "$0")/train_lib.sh"

small_case 12
options=(--batch-size 2 --gradient-accumulation-steps 1 --max-steps 12 --warmup-steps 0 --learning-rate 1e-3 -q)
train whole "${options[@]}"
expect_code 0
[ "$(find cache/plateau/data-check -name '*.json' | wc -l)" -eq 1 ] || fail "the check is not remembered"

# The evaluation set is looked at as well, and a picture to its end.
cp -r tiny/pictures kept
last=$(find tiny/pictures -name "eval-00023.*")
truncate -s "$(($(stat -c %s "$last") - 20))" "$last"
train refused "${options[@]}" --eval-dataset tiny/eval.jsonl
expect_code 2
expect_one_line err
expect_in err "tiny/eval.jsonl line 24: "
[ ! -e refused/log.jsonl ] || fail "it began all the same"
train refused "${options[@]}" --eval-dataset tiny/eval.jsonl --data-check headers --max-steps 1
expect_code 0
cp kept/* tiny/pictures/

# An example that is bad, met in the middle of the run.
cp tiny/train.jsonl good.jsonl
python3 - <<'PY'
lines = open("tiny/train.jsonl").read().splitlines()
lines[3] = lines[3].replace("pictures/", "pictured/")
open("tiny/train.jsonl", "w").write("\n".join(lines) + "\n")
PY
train mended "${options[@]}" --data-check none
expect_code 2
expect_one_line err
expect_in err "tiny/train.jsonl line 4: "
expect_in err "--resume --accept-changed-data"
steps=$(losses mended | wc -l)
[ -d "mended/checkpoint-$steps" ] || fail "no checkpoint of step $steps"
cp good.jsonl tiny/train.jsonl
train mended "${options[@]}" --resume
expect_code 2
expect_in err "--accept-changed-data"
train mended "${options[@]}" --resume --accept-changed-data
expect_code 0
expect_in err "goes on in the same order"
cmp whole/adapter/adapter_model.safetensors mended/adapter/adapter_model.safetensors || fail "the mended run differs"
