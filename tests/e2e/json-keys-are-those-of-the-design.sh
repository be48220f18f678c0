#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --json: one object a line, the agreed keys first and in order, unknown as null, valid UTF-8.
. "$(dirname "$0")/lib.sh"

cat >check.py <<'PY'
import json
import sys

KEYS = ("file verdict confidence risk component process steps growth settled epoch_steps spikes "
        "causes decides_at_step experiment evidence").split()
INNER = {"risk": "oom at_step limit_mb", "steps": "first last",
         "growth": "rate_mb_per_step rate_low rate_high", "settled": "step mb low_mb high_mb",
         "spikes": "count height_mb"}
WORDS = {"plateau", "warming", "leak", "undecided"}

count = 0
for line in open(sys.argv[1], encoding="utf-8"):
    verdict = json.loads(line)
    assert list(verdict)[:len(KEYS)] == KEYS, list(verdict)
    for key, inner in INNER.items():
        if verdict[key] is not None:
            assert list(verdict[key]) == inner.split(), (key, verdict[key])
    if verdict["process"] is not None:
        assert list(verdict["process"])[:3] == ["name", "role", "pid"], verdict["process"]
    for cause in verdict["causes"]:
        assert list(cause)[:4] == ["name", "weight", "evidence", "confirm"], cause
    assert verdict["verdict"] in WORDS
    assert verdict["confidence"] is None or 0 < verdict["confidence"] <= 1
    assert isinstance(verdict["evidence"], list)
    assert verdict["schema"] == 2
    count += 1
assert count == int(sys.argv[2]), f"{count} lines"
PY

run "$PLATEAU" judge --json "$RUN2" --examples 663 --batch 8
expect_empty err
python3 check.py out 1
run "$PLATEAU" judge --json "$RUN1" "$RUN2"
python3 check.py out 2

# A step that goes back starts a new run: one object each, the last run last.
cat "$RUN1" "$RUN2" >both.log
run "$PLATEAU" judge --json both.log
python3 check.py out 2
python3 -c '
import json
lines = [json.loads(line) for line in open("out")]
assert [line["steps"]["last"] for line in lines] == [70, 240], lines
assert all(line["run"] for line in lines)'

run "$PLATEAU" judge --json --replay "$RUN2"
[ "$(wc -l <out)" -ge 20 ] || fail "a replay of 24 samples has $(wc -l <out) lines"
python3 check.py out "$(wc -l <out)"
