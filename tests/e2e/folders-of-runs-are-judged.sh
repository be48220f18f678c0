#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What TensorBoard, W&B, MLflow and torch write is judged like a log; a folder of nothing is refused.
. "$(dirname "$0")/lib.sh"

folders=$SOURCE_DIR/tests/fixtures/run-folders
while read -r what samples; do
  run "$PLATEAU" convert "$folders/$what"
  expect_code 0
  expect_in err "$samples samples"
done <<'WHAT'
tensorboard 40
wandb 50
wandb/offline-run-sample01/run-sample01.wandb 50
mlruns/0/run-2/metrics/system 25
cuda_snapshot.pickle 301
WHAT

# All runs of a folder are judged, the latest is the answer.
run "$PLATEAU" judge "$folders/mlruns"
expect_in out "0/run-1"
expect_in out "0/run-2"

# A snapshot answers for its call stacks.
run "$PLATEAU" judge "$folders/cuda_snapshot.pickle"
expect_in out "Grows at: keep_losses (train.py:70)"
run "$PLATEAU" profile "$folders/cuda_snapshot.pickle" --kind device
expect_in out "Heap of GPU 0"
expect_in out "keep_losses (train.py:70)"

mkdir -p empty/inside
run "$PLATEAU" judge empty
expect_code 2
expect_one_line err
expect_in err "neither MLflow's"
run "$PLATEAU" judge "$folders/tensorboard" --format mlflow
expect_code 2
expect_one_line err
