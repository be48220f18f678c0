#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two processes with half the batch each have the losses of one process with the whole.
. "$(dirname "$0")/train_lib.sh"

small_case 32
options=(--gradient-accumulation-steps 1 --epochs 2 --learning-rate 1e-3 --optim adamw_torch --warmup-steps 0)
train one --batch-size 4 "${options[@]}"
expect_code 0
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port
for rank in 1 0; do
  RANK=$rank "$TRAINER" train -m tiny/model -d tiny/train.jsonl -o two --threads 1 --load-in-32bit \
    --save-method lora --batch-size 2 "${options[@]}" >out.$rank 2>err.$rank &
done
for job in $(jobs -p); do wait "$job" || fail "a process failed: $(cat err.0 err.1)"; done
losses one >one.txt
losses two >two.txt
python3 - <<'PY' || fail "losses differ"
one = [float(line.split()[1]) for line in open("one.txt")]
two = [float(line.split()[1]) for line in open("two.txt")]
assert len(one) == len(two) == 16, (len(one), len(two))
worst = max(abs(a - b) / abs(a) for a, b in zip(one, two))
assert worst < 1e-4, worst
PY
