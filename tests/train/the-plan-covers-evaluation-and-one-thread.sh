#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The planned peak is not below the measured one: with an evaluation set of larger pictures than the
# training set's, and for the smallest batch with one thread. Fewer tokens than pictures need are
# refused.
. "$(dirname "$0")/train_lib.sh"

# peaks: planned and measured, in bytes, of the last run.
peaks() {
  python3 - <<'PY'
import re
rows = [line.split() for line in open("out") if line.split()[:1] == ["peak"]]
unit = {"kB": 1e3, "MB": 1e6, "GB": 1e9}
found = re.findall(r"([\d.]+) (kB|MB|GB)", " ".join(rows[-1]))
print(*(int(float(n) * unit[u]) for n, u in found[:2]))
PY
}
expect_covered() {
  local planned measured
  read -r planned measured < <(peaks)
  [ "$planned" -ge $((measured * 995 / 1000)) ] || fail "$1: planned $planned, measured $measured"
  [ "$planned" -le $((measured * 130 / 100)) ] || fail "$1: planned $planned, far above $measured"
}

small_case 6
options=(--batch-size 1 --gradient-accumulation-steps 1 --max-steps 3)
train one "${options[@]}"
expect_code 0
expect_covered "one thread"
"$TRAINER" init --preset tiny -o large --examples 2 --eval-examples 2 --side 840 >/dev/null
train eval "${options[@]}" --eval-dataset large/eval.jsonl --eval-steps 2
expect_code 0
expect_in out "evaluation"
expect_covered "evaluation of larger pictures"

run "$TRAINER" plan --preset qwen2.5-vl-3b
expect_code 0
[ "$(head -1 out)" = "Plateau's own trainer on the CPU: host RAM, planned" ] || fail "first line: $(head -1 out)"
run "$TRAINER" plan --preset qwen2.5-vl-3b --device cuda
expect_code 2
expect_in err "GPU memory of Plateau's own trainer is not planned"

run "$TRAINER" plan --preset qwen2.5-vl-3b --tokens 300
expect_code 2
expect_one_line err
expect_in err "--tokens 300: pictures of 1003520 pixels (--pixels) need 1280 tokens"
run "$TRAINER" plan --preset qwen2.5-vl-3b --max-seq-length 512
expect_code 2
expect_in err "--max-seq-length 512: pictures of"
run "$TRAINER" plan --preset qwen2.5-vl-3b --tokens 300 --pixels 100000
expect_code 0
run "$TRAINER" plan --preset tiny --target-modules q_proj,vproj
expect_code 2
expect_in err "no linear layer that may be trained ends in vproj"
