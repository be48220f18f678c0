#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 16 steps are 8 and 8 resumed ones: the same losses, the same adapter, byte for byte. In the middle
# of an epoch, with 8-bit states, dropout and worker threads.
. "$(dirname "$0")/train_lib.sh"

small_case 40
options=(--batch-size 2 --gradient-accumulation-steps 2 --epochs 1.6 --learning-rate 1e-3 --save-steps 8
  --lora-dropout 0.1 --dataloader-num-workers 2 --warmup-steps 2)
train whole "${options[@]}"
expect_code 0
train broken "${options[@]}" --memory-limit 1
expect_code 30
[ -d broken/checkpoint-1 ] || fail "no checkpoint after the memory limit"
train broken "${options[@]}" --resume
expect_code 0
losses whole >whole.txt
losses broken >broken.txt
[ "$(wc -l <whole.txt)" -eq 16 ] || fail "not 16 steps: $(cat whole.txt)"
cmp whole.txt broken.txt || fail "losses differ"
cmp whole/adapter/adapter_model.safetensors broken/adapter/adapter_model.safetensors || fail "adapters differ"
