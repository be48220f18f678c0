#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# More steps for a finished run: the merged model is that of the new adapter, never of the old one.
# The folder may have been moved in between; the best checkpoint is found where it is now.
. "$(dirname "$0")/train_lib.sh"

small_case 8
options=(--eval-dataset tiny/eval.jsonl --eval-steps 2 --batch-size 2 --gradient-accumulation-steps 1
  --lr-scheduler-type constant --warmup-steps 0 --learning-rate 1e-3 -q)
train first "${options[@]}" --max-steps 4 --save-method merged_16bit
expect_code 0
cp first/merged/model.safetensors old
mv first moved
train moved "${options[@]}" --max-steps 8 --save-method merged_16bit --resume
expect_code 0
! cmp -s old moved/merged/model.safetensors || fail "the merged model is the old one"
run "$TRAINER" merge -m tiny/model -a moved/adapter -o again
expect_code 0
cmp again/model.safetensors moved/merged/model.safetensors || fail "merged is not that of the adapter"
# Without a merged model wanted, none of an earlier end stays.
train moved "${options[@]}" --max-steps 10 --resume
expect_code 0
[ ! -e moved/merged ] || fail "an old merged model beside a new adapter"
# Nothing left to do: the result is written again, and is the same.
cp moved/adapter/adapter_model.safetensors last
train moved "${options[@]}" --max-steps 10 --resume
expect_code 0
cmp last moved/adapter/adapter_model.safetensors || fail "the result changed by itself"
