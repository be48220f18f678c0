#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the trainer says to plateau run: steps, the loss, tensors and their bytes, evaluations and
# checkpoints; and its own table has a measured figure in every line.
. "$(dirname "$0")/train_lib.sh"

small_case 32
run "$PLATEAU" run -o heard.plateau --interval 0.05 -- "$TRAINER" train -m tiny/model -d tiny/train.jsonl \
  --eval-dataset tiny/eval.jsonl -o out-dir --threads 1 --load-in-32bit --save-method lora --batch-size 4 \
  --gradient-accumulation-steps 1 --max-steps 8 --eval-steps 4 --save-steps 4
"$PLATEAU" dump heard.plateau >dumped
for word in tensors.cpu tensors.cpu.bytes loss eval checkpoint; do
  grep -qF -- "$word" dumped || fail "dump does not show $word: $(head -c 3000 dumped)"
done
python3 - out <<'PY' || fail "$(cat out)"
import re, sys
text = open(sys.argv[1]).read().split("planned and measured:")[1]
for name in "base adapters gradients optimizer activations logits images prefetch runtime resident peak".split():
    row = next(line for line in text.splitlines() if line.split()[:1] == [name])
    assert re.match(r"\s+\S+\s+[\d.]+ \S?B\s+[\d.]+ \S?B", row), row
assert any(line.split()[:1] == ["rest"] for line in text.splitlines())
PY
