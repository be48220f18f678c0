#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A model directory that cannot be trained is told in one line that names file and tensor, before
# anything is written; weights that are there in two shards instead of one train the same.
. "$(dirname "$0")/train_lib.sh"

small_case 8
tool() { python3 "$SOURCE_DIR/tests/train/safetensors_tool.py" "$@"; }
train_on() {
  run "$TRAINER" train -m "$1" -d tiny/train.jsonl -o "$2" --threads 1 --load-in-32bit --save-method lora \
    --batch-size 2 --gradient-accumulation-steps 1 --max-steps 4
}
# expect_refusal TEXT...: one line with all of them, and no output directory.
expect_refusal() {
  local text
  expect_code 2
  expect_one_line err
  for text in "$@"; do expect_in err "$text"; done
  [ ! -e refused ] || fail "left behind: $(ls -a refused)"
}
query=model.layers.0.self_attn.q_proj.weight

tool shape tiny/model wrong $query
train_on wrong refused
expect_refusal "wrong/model.safetensors" $query "[256, 64], expected [128, 128]"
tool lacks tiny/model lacking $query
train_on lacking refused
expect_refusal "lacking/model.safetensors" "$query"
tool shards tiny/model shards
cp -r shards gone
rm gone/model-00002-of-00002.safetensors
train_on gone refused
expect_refusal "gone/model-00002-of-00002.safetensors" "No such file"
cp -r shards cut
truncate -s -4 cut/model-00002-of-00002.safetensors
train_on cut refused
expect_refusal "cut/model-00002-of-00002.safetensors"
cp -r tiny/model halved
truncate -s 300 halved/tokenizer.json
train_on halved refused
expect_refusal "halved/tokenizer.json"

# A weight that is not a number: the loss is none, from the first step on.
tool poison tiny/model poisoned $query
train_on poisoned nothing
expect_code 2
expect_one_line err
expect_in err "step 1: the loss of examples"
expect_in err "base model's weights"
[ ! -e nothing/checkpoint-4 ] || fail "a checkpoint of nothing"

train_on tiny/model whole
expect_code 0
train_on shards halves
expect_code 0
cmp whole/adapter/adapter_model.safetensors halves/adapter/adapter_model.safetensors || fail "shards train otherwise"
