#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be trained is told in one line that names the file, and nothing is left behind.
. "$(dirname "$0")/train_lib.sh"

small_case 8
expect_refusal() {
  expect_code 2
  expect_in err "$1"
  [ ! -e refused/adapter ] || fail "a result in spite of the error"
}
train refused -d nowhere.jsonl
expect_refusal "nowhere.jsonl"
printf 'not json\n' >bad.jsonl
train refused -d bad.jsonl
expect_refusal "bad.jsonl"
sed 's/train-00003/train-99999/' tiny/train.jsonl >tiny/missing.jsonl
train refused -d tiny/missing.jsonl
expect_refusal "line 4"
head -c 100 tiny/pictures/train-00002.* >cut.png
python3 - <<'PY'
import json
lines = [json.loads(line) for line in open("tiny/train.jsonl")]
lines[2]["image"] = "../cut.png"
open("tiny/cut.jsonl", "w").writelines(json.dumps(line) + "\n" for line in lines)
PY
rm -rf refused
train refused -d tiny/cut.jsonl --batch-size 2 --gradient-accumulation-steps 1 --epochs 1
expect_refusal "cut.png"
train skipped -d tiny/cut.jsonl --batch-size 2 --gradient-accumulation-steps 1 --epochs 1 --skip-bad
expect_code 0
expect_in out "1 bad examples were left out"
cp -r tiny/model broken
truncate -s -100 broken/model.safetensors
run "$TRAINER" train -m broken -d tiny/train.jsonl -o refused --load-in-32bit
expect_refusal "broken/model.safetensors"
expect_one_line err
train skipped --epochs 1
expect_refusal "checkpoints from an earlier run"
