# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the trainer's tests share, besides e2e/lib.sh: TRAINER is plateau-train.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
: "${TRAINER:?path of plateau-train}"
# Tests run side by side; more threads than cores make each of them slower.
export OMP_NUM_THREADS=1
# Results of data checks stay with the test.
export XDG_CACHE_HOME=$SCRATCH/cache

# small_case EXAMPLES: a model and a dataset in ./tiny.
small_case() {
  "$TRAINER" init --preset tiny -o tiny --examples "$1" --eval-examples 24 >/dev/null
}

# train OUT OPTIONS...: trains on ./tiny into OUT, leaves $code, out, err.
train() {
  local into=$1
  shift
  run "$TRAINER" train -m tiny/model -d tiny/train.jsonl -o "$into" --threads 1 --load-in-32bit \
    --save-method lora "$@"
}

# losses OUT: step and loss of every step, from the log.
losses() {
  python3 - "$1/log.jsonl" <<'PY'
import json, sys
for line in open(sys.argv[1]):
    entry = json.loads(line)
    if "loss" in entry and "eval_loss" not in entry:
        print(entry["step"], entry["loss"])
PY
}
