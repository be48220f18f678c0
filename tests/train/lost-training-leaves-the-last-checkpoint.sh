#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A learning rate that blows the weights up: an error that says so, in one line. What was saved
# before is whole.
. "$(dirname "$0")/train_lib.sh"

small_case 24
options=(--batch-size 2 --gradient-accumulation-steps 1 --epochs 1 --warmup-steps 0 --lr-scheduler-type constant)
train lost "${options[@]}" --save-steps 2 --learning-rate 1e30 -q
expect_code 2
expect_one_line err
expect_in err "Try a lower learning rate"
[ ! -e lost/adapter ] || fail "a result in spite of the error"
[ -z "$(find lost -name "*tmp*")" ] || fail "left behind: $(ls -a lost)"

# A rate at which the weights themselves become infinite: such weights are never saved.
train infinite "${options[@]}" --save-steps 1 --learning-rate 3e38 -q
expect_code 2
expect_one_line err
expect_in err "Try a lower learning rate"
python3 - <<'PY' || fail "weights that are not finite were saved"
import glob, json, math, struct
for path in glob.glob("infinite/checkpoint-*/adapter_model.safetensors"):
    data = open(path, "rb").read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    assert all(math.isfinite(value) for (value,) in struct.iter_unpack("<f", data[begin:])), path
PY

# The first of the ten steps of warm-up has a rate of 0, so checkpoint-1 is the untrained adapter.
warm=(--batch-size 2 --gradient-accumulation-steps 1 --epochs 1 --warmup-steps 10 --save-steps 1)
train warm "${warm[@]}" --learning-rate 1e30 -q
expect_code 2
expect_in err "step 2: "
expect_in err "not finite"
cp err first
[ -d warm/checkpoint-1 ] || fail "no checkpoint: $(ls warm)"
# It is whole: the same options go on from it and fail in the same place, with the same words.
train warm "${warm[@]}" --learning-rate 1e30 -q --resume=warm/checkpoint-1
expect_code 2
cmp err first || fail "resumed: $(cat err); at first: $(cat first)"
