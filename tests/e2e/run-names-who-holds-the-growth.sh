#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run looks into a Python job that grows by itself, names the list that holds the growth, and says what
# that cost the job; judge says the same of the recording. --no-census leaves the job alone.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >train.py <<'PY'
import sys, time
class Sample:
    def __init__(self):
        self.pixels = bytearray(b"x" * 200_000)
        self.labels = [1]
def train():
    kept = []
    for step in range(1, int(sys.argv[1])):
        kept.extend(Sample() for _ in range(3))
        print(f"Step {step}", flush=True)
        time.sleep(0.05)
train()
PY
"$PLATEAU" run --census-share 10 -o run.plateau -- /usr/bin/python3 train.py 300 >out 2>err || fail "$(cat err)"
tr -s ' \n' ' ' <err >words
# shellcheck disable=SC2016
expect_in words 'Holds: list `kept` in `train` (train.py:'
expect_in words '__main__.Sample, 3 per step, made and added at train.py:9.'
expect_in words 'the job was stopped twice to see who holds its Python objects'

"$PLATEAU" judge --json run.plateau >judged || true
python3 - <<'PY'
import json
answer = json.load(open("judged"))
first = answer["holders"][0]
assert (first["path"], first["kind"], first["type"], first["function"]) == ("kept", "local", "list", "train"), first
assert first["grew"] == first["length_after"] - first["length_before"] >= 10, first
assert first["holds"][0] == {"type": "__main__.Sample", "count": first["length_after"], "tensor": False}, first
assert [(line["line"], line["made_line"]) for line in first["added_at"]] == [(9, 9)], first
assert answer["causes"][0]["name"] == "python-objects", answer["causes"]
PY
"$PLATEAU" judge run.plateau | tr -s ' \n' ' ' >later || true
# shellcheck disable=SC2016
expect_in later 'Holds: list `kept` in `train` (train.py:'

"$PLATEAU" run --no-census -o alone.plateau -- /usr/bin/python3 train.py 60 >out 2>err || fail "$(cat err)"
expect_not_in err "was stopped"
run "$PLATEAU" run --census-share 50 -o never.plateau -- true
expect_code 2
expect_one_line err

# A look that comes while the program is still being imported, for longer than ten seconds, is no look at its work.
mkdir parts
for part in $(seq 120); do echo "table = [[] for _ in range(50)]" >"parts/part$part.py"; done
cat >slow.py <<'PY'
import importlib, sys, time
sys.path.insert(0, "parts")
loaded = []
for number in range(1, 121):
    loaded.append(importlib.import_module(f"part{number}"))
    loaded.append(bytearray(b"x" * 200_000))
    time.sleep(0.15)
def train():
    kept = []
    for step in range(1, 300):
        kept.append([bytearray(b"x" * 200_000)])
        print(f"Step {step}", flush=True)
        time.sleep(0.05)
train()
PY
"$PLATEAU" run --census-share 10 -o slow.plateau -- /usr/bin/python3 slow.py >out 2>err || fail "$(cat err)"
tr -s ' \n' ' ' <err >words
# shellcheck disable=SC2016
expect_in words 'Holds: list `kept` in `train` (slow.py:'
# shellcheck disable=SC2016
expect_not_in words '`loaded`'
expect_in words 'the job was stopped 3 times to see who holds its Python objects'

# What is kept at every twentieth step only does not grow by ten items between the first two looks.
cat >rare.py <<'PY'
import time
def train():
    predictions = []
    for step in range(1, 600):
        if step % 20 == 0:
            predictions.append([bytearray(b"x" * 4_000_000)])
        print(f"Step {step}", flush=True)
        time.sleep(0.05)
train()
PY
"$PLATEAU" run -o rare.plateau -- /usr/bin/python3 rare.py >out 2>err || fail "$(cat err)"
tr -s ' \n' ' ' <err >words
# shellcheck disable=SC2016
expect_in words 'Holds: list `predictions` in `train` (rare.py:'
