#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGTERM in the middle of a run: a checkpoint, exit code 143, and --resume ends where it would have.
. "$(dirname "$0")/train_lib.sh"

small_case 40
options=(--batch-size 2 --gradient-accumulation-steps 1 --epochs 3 --learning-rate 1e-3 --save-steps 1000)
train whole "${options[@]}"
expect_code 0
"$TRAINER" train -m tiny/model -d tiny/train.jsonl -o broken --threads 1 --load-in-32bit --save-method lora \
  "${options[@]}" >out 2>err &
pid=$!
for ((i = 0; i < 600; i++)); do
  [ "$(grep -c . broken/log.jsonl 2>/dev/null || true)" -ge 5 ] 2>/dev/null && break
  sleep 0.1
done
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
expect_code 143
train broken "${options[@]}" --resume
expect_code 0
cmp whole/adapter/adapter_model.safetensors broken/adapter/adapter_model.safetensors || fail "adapters differ"
