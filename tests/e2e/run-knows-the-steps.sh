#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps are read off the output, or come from the Python client together with events and gauges;
# both also through a plateau inside a plateau.
# shellcheck disable=SC2016 # What is quoted is for another shell to expand.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

cat >prints.py <<'PY'
import time
for step in range(1, 31):
    print("Step %d/30: loss 0.3" % step, flush=True)
    time.sleep(0.03)
PY
steps_of() { "$PLATEAU" judge --json "$1" | python3 -c 'import json,sys; print(json.load(sys.stdin)["steps"]["last"])'; }

"$PLATEAU" run -q -o prints.plateau -- python3 prints.py >/dev/null 2>err || fail "$(cat err)"
[ "$(steps_of prints.plateau || true)" -ge 25 ] || fail "steps up to $(steps_of prints.plateau) in the output"

# Epochs are read off the output as off a log: "epoch 2" gives the length of the first one, and so
# does a heading of its own, or a fraction of an epoch early in the first.
epoch_of() {
  { "$PLATEAU" judge --json "$1" || true; } |
    python3 -c 'import json,sys; print(round(json.load(sys.stdin)["epoch_steps"] or 0))'
}
cat >epochs.py <<'PY'
import sys, time
kept = []
for step in range(1, 91):
    epoch = (step - 1) // 40 + 1
    if sys.argv[1] == "heading" and (step - 1) % 40 == 0:
        print("Epoch %d/3" % epoch, flush=True)
    kept.append(bytearray(b"x") * 500_000)
    time.sleep(0.03)
    if sys.argv[1] == "heading":
        print("step %d loss 0.1" % step, flush=True)
    elif sys.argv[1] == "inline":
        print("step %d epoch %d loss 0.1" % (step, epoch), flush=True)
    else:
        print("step %d" % step, flush=True)
        print({"loss": 0.1, "epoch": round(step / 400, 3)}, flush=True)
PY
for how in inline heading; do
  "$PLATEAU" run -q -o $how.plateau -- python3 epochs.py $how >$how.out 2>err || fail "$(cat err)"
  length=$(epoch_of $how.plateau)
  ((length >= 37 && length <= 43)) || fail "$how: an epoch of $length steps instead of 40"
  # The same lines with an amount of memory on each, as a log.
  awk '/^step/ {print $0, "rss", 20 + 0.5 * n++, "MB"; next} {print}' $how.out >$how.log
  [ "$(epoch_of $how.log)" = 40 ] || fail "$how: judge takes an epoch of $(epoch_of $how.log) steps from the same lines"
done
"$PLATEAU" run -q -o fractions.plateau -- python3 epochs.py fractions >/dev/null 2>err || fail "$(cat err)"
length=$(epoch_of fractions.plateau)
((length >= 380 && length <= 420)) || fail "an epoch of $length steps instead of 400"

cat >client.py <<'PY'
import sys, time
sys.path.insert(0, sys.argv[1])
import plateau
p = plateau.start(total_steps=30, examples=240, batch=8, every=5)
for step in range(1, 31):
    time.sleep(0.03)
    p.on_step_end(step, step / 30)
    if step == 15:
        with p.evaluate():
            time.sleep(0.1)
p.close()
PY
"$PLATEAU" run -q -o client.plateau -- python3 client.py "$SOURCE_DIR/clients/python" 2>err || fail "$(cat err)"
[ "$(steps_of client.plateau || true)" -ge 28 ] || fail "steps up to $(steps_of client.plateau) from the client"
"$PLATEAU" dump client.plateau >dumped
for word in "total_steps 30" "examples 240" "batch 8" "eval" "client."; do expect_in dumped "$word"; done

# Nested: the inner one is part of the outer one's job, and both hear the client.
run "$PLATEAU" run -q -o outer.plateau -- "$PLATEAU" run -q -o inner.plateau -- \
  sh -c 'python3 client.py "$0"; exit 12' "$SOURCE_DIR/clients/python"
expect_code 12
for name in outer inner; do
  [ "$(steps_of $name.plateau || true)" -ge 28 ] || fail "$name: steps up to $(steps_of $name.plateau)"
done
