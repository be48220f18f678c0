#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Planned and measured peak of real runs: bench/trainer/plan_table.sh BUILD_DIR [STEPS] [THREADS]
# Configurations differ in batch, length (pixels), checkpointing, storage, workers, rank and optimizer.
# The table of docs/plan.md is this one.
set -euo pipefail
build=$(realpath "$1")
steps=${2:-6}
threads=${3:-2}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$build/plateau-train" init --preset small -o small --examples 48 --eval-examples 4 --side 224 >/dev/null
"$build/plateau-train" init --preset small -o wide --examples 48 --eval-examples 4 --side 448 >/dev/null

measure() {
  local name=$1 data=$2
  shift 2
  local save=(--save-method lora)
  [[ " $* " != *" --full-finetuning "* ]] || save=()
  rm -rf out
  "$build/plateau-train" train -m "$data/model" -d "$data/train.jsonl" -o out "${save[@]}" \
    --gradient-accumulation-steps 1 --max-steps "$steps" --threads "$threads" "$@" >said 2>/dev/null
  awk -v name="$name" '/planned and measured/ { after = 1 }
    after && $1 == "peak" { printf "| %s | %s %s | %s %s |\n", name, $2, $3, $4, $5 }' said
}

echo "| run | planned peak | measured peak |"
echo "|---|---|---|"
measure "NF4, batch 1, 224 px, checkpointing" small --batch-size 1
measure "NF4, batch 8, 224 px, checkpointing" small --batch-size 8
measure "NF4, batch 8, 224 px, no checkpointing" small --batch-size 8 --use-gradient-checkpointing false
measure "bf16, batch 4, 224 px, no checkpointing" small --batch-size 4 --load-in-16bit --use-gradient-checkpointing false
measure "fp32, batch 4, 224 px, checkpointing, 32-bit AdamW" small --batch-size 4 --load-in-32bit --optim adamw_torch
measure "fp32, batch 2, 448 px, no checkpointing" wide --batch-size 2 --load-in-32bit --use-gradient-checkpointing false
measure "NF4, batch 2, 448 px, checkpointing, 3 workers" wide --batch-size 2 --dataloader-num-workers 3
measure "NF4, batch 4, 448 px, frozen vision tower" wide --batch-size 4 --finetune-vision-layers false --use-gradient-checkpointing false
measure "fp32, batch 4, 448 px, rank 64" wide --batch-size 4 --load-in-32bit --lora-r 64 --use-gradient-checkpointing false
measure "bf16 computed in bf16, batch 1, 224 px, checkpointing" small --batch-size 1 --load-in-16bit --compute-dtype bf16
measure "bf16 computed in bf16, batch 4, 224 px, no checkpointing" small --batch-size 4 --load-in-16bit --compute-dtype bf16 --use-gradient-checkpointing false
measure "NF4 computed in bf16, batch 8, 224 px, checkpointing" small --batch-size 8 --compute-dtype bf16
measure "NF4 computed in bf16, batch 2, 448 px, no checkpointing" wide --batch-size 2 --compute-dtype bf16 --use-gradient-checkpointing false
measure "fp32 computed in bf16, batch 4, 448 px, checkpointing" wide --batch-size 4 --load-in-32bit --compute-dtype bf16
measure "bf16 computed in bf16, batch 4, 448 px, DoRA" wide --batch-size 4 --load-in-16bit --compute-dtype bf16 --use-dora --use-gradient-checkpointing false
measure "whole weights computed in bf16, batch 4, 224 px" small --batch-size 4 --full-finetuning --load-in-32bit --compute-dtype bf16
