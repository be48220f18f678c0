#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On real torch: profile --objects --again names the list of losses that keeps their graphs, the one that
# does not, the cache of a dataset and the images that stay decoded; the job goes on.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

python=$("$SOURCE_DIR/tools/stack.sh" 2>/dev/null) || skip "the Python stack is not installed (tools/setup.sh stack)"

cat >job.py <<'PY'
import sys
import torch
from PIL import Image

class Data(torch.utils.data.Dataset):
    def __init__(self):
        self.cache = {}
    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = torch.zeros(4)
        return self.cache[index]

data = Data()

def train():
    model = torch.nn.Linear(4, 4)
    losses, plain, images = [], [], []
    print("ready", flush=True)
    for line in sys.stdin:
        for _ in range(int(line)):
            loss = model(data[len(losses)]).pow(2).mean()
            losses.append(loss)
            plain.extend([loss.detach(), loss.detach()])
            images.extend(Image.new("RGB", (4, 4)) for _ in range(3))
        print(len(losses), flush=True)

train()
PY
coproc JOB { exec "$python" job.py; }
job=$JOB_PID
trap 'kill "$job" 2>/dev/null; rm -rf "$SCRATCH"' EXIT
read -r said <&"${JOB[0]}"
[ "$said" = ready ] || fail "the job said $said"
echo 100 >&"${JOB[1]}"
read -r said <&"${JOB[0]}"

: >announced
"$PLATEAU" profile "$job" --objects --again 5s --max-stop 60s --json >growth.json 2>announced &
counting=$!
# The second stop is announced after the wait: the job grows once the first count is over.
until grep -q stopping announced; do sleep 0.05; done
state() { awk '{ print $3 }' "/proc/$job/stat"; }
sleep 1
until [ "$(state)" != t ]; do sleep 0.05; done
echo 200 >&"${JOB[1]}"
read -r said <&"${JOB[0]}"
[ "$said" = 300 ] || fail "the job said $said"
wait "$counting" || fail "$(cat announced)"
python3 - <<'PY'
import json
answer = json.load(open("growth.json"))
assert answer["holders_trouble"] == "", answer["holders_trouble"]
by_path = {holder["path"]: holder for holder in answer["holders"]}
for path, held, kind, length in (("losses", "torch.Tensor", "local", 300), ("plain", "torch.Tensor", "local", 600),
                                 ("images", "PIL.Image.Image", "local", 900), ("data.cache", "torch.Tensor", "global", 300)):
    holder = by_path[path]
    assert holder["kind"] == kind and holder["length_after"] == length, holder
    assert holder["grew"] == length * 2 // 3, holder
    assert holder["holds"][0]["type"] == held and holder["holds"][0]["count"] == length, holder
losses, plain = by_path["losses"], by_path["plain"]
assert losses["tensors_looked_at"] > 0 and losses["tensors_with_graph"] == losses["tensors_looked_at"], losses
assert plain["tensors_with_graph"] == 0, plain
assert losses["function"] == "train" and losses["file"].endswith("job.py") and losses["line"] > 0, losses
assert by_path["data.cache"]["owner"] == "__main__.Data", by_path["data.cache"]
PY
echo 1 >&"${JOB[1]}"
read -r said <&"${JOB[0]}"
[ "$said" = 301 ] || fail "the job said $said"
