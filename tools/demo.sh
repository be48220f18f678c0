#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job on real cases: tools/demo.sh [train|fleet]
# The two production logs that the project began from, a recorded process tree in which a child leaks
# under a flat parent, and a job that is started and watched; with "train", a training whose memory is
# planned before its first step; with "fleet", a Prometheus that knows some hundred containers.
set -euo pipefail
cd "$(dirname "$0")/.."
plateau=build/release/plateau
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
show() {
  printf '\n$ plateau %s\n' "$*"
  local status=0
  "$plateau" "$@" || status=$?
  printf '(exit %d)\n' "$status"
  [ "$status" -ne 2 ]
}

judge_and_watch() {
  local logs=corpus/model-garden recording=$scratch/images.plateau
  echo "A vision-language fine-tuning grew from 5.4 to 17.7 GB. 663 examples, 8 per step. Is it a leak?"
  show judge "$logs/run2.log" --examples 663 --batch 8
  echo; echo "Its first run was stopped at step 70, because somebody thought so. What could one know then?"
  show judge "$logs/run1.log" --examples 663 --batch 8 --limit 32GB
  echo; echo "A process tree: which process is it?"
  show judge corpus/dev/tree_leak_child-1.csv.gz

  echo; echo "A job of its own, watched live for 12 seconds: a list of images that stay decoded, as in the first case."
  printf '\n$ plateau run --heap -o images.plateau -- python3 tests/leakers/lazy_images.py >/dev/null\n'
  "$plateau" run --heap -o "$recording" -- /usr/bin/python3 tests/leakers/lazy_images.py >/dev/null
  echo; echo "Which call is it?"
  show profile "$recording"
}

train() {
  echo "The same kind of training, done so that the question does not arise: planned, 150 steps, judged by itself."
  printf '\n$ plateau-train init --preset tiny -o tiny\n'
  build/release/plateau-train init --preset tiny -o "$scratch/tiny" --examples 400 --eval-examples 24 >/dev/null
  printf '$ plateau train -m tiny/model -d tiny/train.jsonl --eval-dataset tiny/eval.jsonl -o tiny/out --batch-size 8 ...\n'
  "$plateau" train -m "$scratch/tiny/model" -d "$scratch/tiny/train.jsonl" --eval-dataset "$scratch/tiny/eval.jsonl" \
    -o "$scratch/tiny/out" --load-in-32bit --use-gradient-checkpointing false --batch-size 8 \
    --gradient-accumulation-steps 1 --max-steps 150 --learning-rate 1e-3 --lora-alpha 64 --lr-scheduler-type linear \
    --logging-steps 50 --save-steps 75 --save-method lora
}

fleet() {
  # shellcheck source=../tests/fleet/engines.sh
  . tests/fleet/engines.sh
  trap 'stop_engines; wait; rm -rf "$scratch"' EXIT
  echo "A fleet of 300 containers over six hours, made of recorded traces: most are level, some climb with the day, a few leak."
  python3 -B tests/fleet/make_fleet.py "$scratch/fleet" --series 300 --folders dev,own --seed 3
  start_prometheus "$scratch/fleet"
  show fleet --url "$PROMETHEUS_URL" --at "$FLEET_END"
}

case ${1:-} in
  "") judge_and_watch; echo; echo "'make demo-train' shows a training whose memory is planned before its first step." ;;
  train) train ;;
  fleet) fleet ;;
  *) echo "usage: tools/demo.sh [train|fleet]" >&2; exit 2 ;;
esac
