#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A long run on `tiny` under Plateau's own verdict: bench/trainer/long_run.sh BUILD_DIR [STEPS] [MORE OPTIONS OF TRAINING...]
# Prints the verdict; with one thread 2,000 steps take three CPU minutes.
set -euo pipefail
build=$(realpath "$1")
steps=${2:-2000}
shift $(($# > 1 ? 2 : 1))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$build/plateau-train" init --preset tiny -o tiny >/dev/null
"$build/plateau" run --json -- "$build/plateau-train" train -m tiny/model -d tiny/train.jsonl --eval-dataset tiny/eval.jsonl \
  -o out --load-in-32bit --use-gradient-checkpointing false --batch-size 8 --gradient-accumulation-steps 1 \
  --max-steps "$steps" --eval-steps 500 --learning-rate 1e-3 --lora-alpha 64 --threads 1 "$@" >said 2>progress || true
python3 - said <<'PY'
import json, sys
answer = json.loads(next(line for line in open(sys.argv[1]) if line.startswith('{"file"')))
print(answer["verdict"], "-", answer["headline"])
print(f'{answer["first_mb"]:.1f} MB at first, {answer["last_mb"]:.1f} MB at last; settled: {answer["settled"]}')
PY
