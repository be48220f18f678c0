#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --tensorboard writes what TensorBoard itself reads: memory by role, floor and verdict over the job's
# steps, the answer as text; while the job runs, and also where the watcher is killed. Plateau reads it too.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
python=$("$SOURCE_DIR/tools/stack.sh" 2>/dev/null) || skip "the users' packages are not installed (tools/setup.sh stack)"

cat >job.py <<'PY'
import sys, time
hold = []
for step in range(1, int(sys.argv[1]) + 1):
    hold.append(bytearray(b"x") * 2_000_000)
    print("Step %d: loss 0.3" % step, flush=True)
    time.sleep(0.05)
PY
run "$PLATEAU" run --no-plot --no-recording -q --epoch-steps 20 --tensorboard whole/memory -- python3 job.py 120
expect_code 0

"$PLATEAU" run --no-plot --no-recording --tensorboard killed -- python3 job.py 400 >/dev/null 2>&1 &
watcher=$!
written() { grep -qs memory/main_mb killed/events.out.tfevents.*; }
wait_until written
kill -9 "$watcher"
wait "$watcher" 2>/dev/null || true

cat >read.py <<'PY'
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

def opened(path):
    events = EventAccumulator(path)
    events.Reload()
    return events

whole = opened("whole/memory")
tags = set(whole.Tags()["scalars"])
wanted = {"memory/owned_mb", "memory/main_mb", "plateau/floor_mb", "plateau/verdict", "plateau/mb_per_step"}
assert wanted <= tags, wanted - tags
memory = whole.Scalars("memory/owned_mb")
assert memory[-1].step > memory[0].step and memory[-1].step <= 120, [each.step for each in memory]
assert memory[-1].value > memory[0].value + 50, (memory[0].value, memory[-1].value)
assert all(each.value in (0, 1, 2, 3) for each in whole.Scalars("plateau/verdict"))
texts = [tag for tag in whole.Tags()["tensors"] if tag.startswith("plateau/answer")]
assert texts, whole.Tags()
text = whole.Tensors(texts[0])[-1].tensor_proto.string_val[0].decode()
assert text.split(",")[0].split(":")[0] in ("LEAK", "PLATEAU", "WARMING", "UNDECIDED"), text
assert whole.SummaryMetadata(texts[0]).plugin_data.plugin_name == "text"
assert opened("killed").Scalars("memory/main_mb"), "nothing is left of the one that was killed"
PY
"$python" read.py 2>why || fail "TensorBoard does not read it: $(cat why)"
run "$PLATEAU" judge --json whole
python3 -c 'import json; answer = json.load(open("out")); assert answer["last_mb"] > 100, answer["last_mb"]' ||
  fail "plateau does not read it back: $(cat out err)"

run "$PLATEAU" run --tensorboard /proc/no -- true
expect_code 2
expect_one_line err
