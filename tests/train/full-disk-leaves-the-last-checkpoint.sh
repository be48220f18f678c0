#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The disk becomes full while a checkpoint is written: one line, exit code 2, no half checkpoint, and
# with room the run goes on from the last one to the same bytes as a run that never stopped.
# Two kinds of "full": a limit on the size of a file (everywhere), and a small file system of its
# own, where user namespaces allow to mount one.
. "$(dirname "$0")/train_lib.sh"

small_case 24
options=(--batch-size 2 --gradient-accumulation-steps 1 --epochs 1 --learning-rate 1e-3 --save-steps 4 -q)
train whole "${options[@]}"
expect_code 0
size=$(du -sB1 whole/checkpoint-4 | cut -f1)

# expect_stop OUT: checkpoint-4 is there and whole, nothing of checkpoint-8.
expect_stop() {
  expect_code 2
  expect_one_line err
  expect_in err "checkpoint of step 8 not written: "
  [ "$(ls -A "$1")" = "checkpoint-4
log.jsonl" ] || fail "in $1: $(ls -A "$1")"
  diff -r whole/checkpoint-4 "$1/checkpoint-4" || fail "checkpoint-4 is not what it was"
}
go_on() {
  train "$1" "${options[@]}" --resume
  expect_code 0
  cmp whole/adapter/adapter_model.safetensors "$1/adapter/adapter_model.safetensors" || fail "adapters differ"
  losses whole >whole.txt
  losses "$1" >resumed.txt
  cmp whole.txt resumed.txt || fail "losses differ"
}

# 1. A checkpoint stands; then no file may be larger than 200 kB.
cp -r whole limited
rm -r limited/adapter limited/checkpoint-8 limited/checkpoint-12
run bash -c 'ulimit -f 200 && exec "$@"' - "$TRAINER" train -m tiny/model -d tiny/train.jsonl -o limited --threads 1 \
  --load-in-32bit --save-method lora "${options[@]}" --resume
expect_stop limited
expect_in err "File too large"
go_on limited

# 2. A file system with room for one and a half checkpoints.
mkdir small
cat >small.sh <<'SH'
set -e
mount -t tmpfs -o size="$1" none small 2>/dev/null || exit 77
shift
code=0
"$@" -o small/out >out 2>err || code=$?
cp -r small/out kept
exit "$code"
SH
run_small() {
  code=0
  unshare "${unshared[@]}" bash small.sh $((size * 3 / 2)) "$TRAINER" train -m tiny/model -d tiny/train.jsonl \
    --threads 1 --load-in-32bit --save-method lora "${options[@]}" 2>why || code=$?
}
unshared=(--map-root-user --mount)
unshare "${unshared[@]}" mount -t tmpfs none small 2>/dev/null || skip "no user namespace with a mount here"
run_small
expect_stop kept
expect_in err "No space left on device"
go_on kept
