#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --eval-generate with two processes: each answers its share, and the counts are those of one process with the same global
# batch. The planned peak covers the measured one, with one process and with two, and where the questions' pictures are
# larger than those of training.
. "$(dirname "$0")/train_lib.sh"

# pair OUT OPTIONS...: the same by two processes.
pair() {
  local into=$1 port rank
  shift
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  for rank in 1 0; do
    RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$TRAINER" train -m tiny/model -d tiny/train.jsonl \
      -o "$into" --threads 1 --load-in-32bit --save-method lora "$@" >out.$rank 2>err.$rank &
  done
  for job in $(jobs -p); do wait "$job" || fail "a process failed: $(cat err.0 err.1)"; done
}
# expect_covered FILE: planned and measured peak of a run.
expect_covered() {
  python3 - "$1" <<'PY' || fail "the plan does not cover the peak: $(cat "$1")"
import re, sys
row = [line for line in open(sys.argv[1]) if line.split()[:1] == ["peak"]][-1]
unit = {"kB": 1e3, "MB": 1e6, "GB": 1e9}
planned, measured = (float(n) * unit[u] for n, u in re.findall(r"([\d.]+) (kB|MB|GB)", row)[:2])
assert measured * 0.995 <= planned <= measured * 1.3, (planned, measured)
PY
}

small_case 40
options=(--gradient-accumulation-steps 1 --max-steps 20 --learning-rate 1e-2 --warmup-ratio 0.1 --optim adamw_torch
  --eval-dataset tiny/eval.jsonl --eval-steps 20 --eval-generate 4 --max-new-tokens 24)
train one --batch-size 4 "${options[@]}"
expect_code 0
expect_covered out
pair two --batch-size 2 "${options[@]}"
expect_covered out.0
python3 - <<'PY' || fail "answers differ"
import json
one, two = ([json.loads(line) for line in open(f"{name}/log.jsonl") if "eval_loss" in line] for name in ("one", "two"))
assert len(one) == len(two) == 1
for a, b in zip(one, two):
    assert abs(a["eval_loss"] - b["eval_loss"]) < 1e-2 * a["eval_loss"], (a, b)
    for key in ("answers", "fields"):
        assert a[key] == b[key], (key, a, b)
    # Sums in another order: an answer may change by a token that was nearly a tie.
    assert abs(a["eval_json_fields"] - b["eval_json_fields"]) < 0.15, (a, b)
    assert b["eval_json_fields"] > 0, "nothing was learned: the comparison says little"
PY

# Questions with pictures so large that they are more than anything else of a step.
"$TRAINER" init --preset tiny -o large --examples 2 --eval-examples 2 --side 560 >/dev/null
pair large --batch-size 1 --gradient-accumulation-steps 1 --max-steps 1 --eval-dataset large/eval.jsonl --eval-steps 1 \
  --eval-generate 2 --max-new-tokens 16
expect_covered out.0
