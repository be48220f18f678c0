#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recordings of a leaking job and of its fixed sibling, and a log against a recording.
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >train.py <<'PY'
import sys, time
kept = []
for step in range(1, 301):
    if sys.argv[1] == "leak":
        kept.append(bytearray(300_000))
    print(f"Step {step}: loss 0.5", flush=True)
    time.sleep(0.012)
PY
for kind in leak fixed; do
  "$PLATEAU" run -q --epoch-steps 60 -o "$kind.plateau" -- /usr/bin/python3 train.py "$kind" >/dev/null 2>err &
done
wait

run "$PLATEAU" compare leak.plateau fixed.plateau --json
expect_code 0
python3 - <<'PY'
import json
answer = json.load(open("out"))
assert answer["outcome"] == "no_worse", answer["outcome"]
assert answer["changes"][0]["growth"] == "removed", answer["changes"][0]["growth"]
PY
run "$PLATEAU" compare fixed.plateau leak.plateau -q
expect_code 1
expect_in out "WORSE"

"$PLATEAU" convert leak.plateau >leak.csv
run "$PLATEAU" compare leak.csv fixed.plateau -q
expect_code 0
