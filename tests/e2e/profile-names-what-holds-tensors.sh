#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On real torch: profile --objects --again names what holds more tensors than before, however it is held, how deep
# their graphs are, the one tensor whose graph becomes deeper, and the lines of the program that add to them; the
# job goes on. What torch's own grad_fn.next_functions say is what must be told.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

python=$("$SOURCE_DIR/tools/stack.sh" 2>/dev/null) || skip "the Python stack is not installed (tools/setup.sh stack)"

cat >job.py <<'PY'
import functools
import sys
import torch
from PIL import Image

by_step = {}

class Data(torch.utils.data.Dataset):
    def __init__(self):
        self.cache = {}
        self.images = [Image.new("RGB", (4, 4)) for _ in range(60)]  # line: decoded
    def __getitem__(self, index):
        if index not in self.cache:
            item = torch.zeros(4)
            self.cache[index] = item  # line: cache
        return self.cache[index]

class Meter:
    seen = []
    def __init__(self):
        self.hidden = torch.zeros(4)
    def see(self, value):
        Meter.seen.append(value * 2)  # line: seen

@functools.lru_cache(maxsize=None)
def embed(index):
    return torch.full((4,), float(index))

def depth(tensor):
    """The longest way through the graph, as torch's Python side tells it."""
    deepest, stack, order = {}, [(tensor.grad_fn, False)], []
    while stack:
        node, after = stack.pop()
        if after:
            deepest[node] = max((deepest[n] + 1 for n, _ in node.next_functions if n is not None), default=0)
        elif node not in deepest:
            stack.append((node, True))
            stack.extend((n, False) for n, _ in node.next_functions if n is not None)
    return deepest[tensor.grad_fn]

def make_hook():
    outputs = []
    def hook(module, args, output):
        outputs.append(output)  # line: outputs
    return hook

data, meter = Data(), Meter()

def train():
    model = torch.nn.Linear(4, 4)
    model.register_forward_hook(make_hook())
    losses, plain, images, total = [], [], [], 0
    print("ready", flush=True)
    for line in sys.stdin:
        for _ in range(int(line)):
            batch = data[len(losses)]
            loss = model(batch).pow(2).mean()  # line: loss
            losses.append(loss)  # line: losses
            total += loss  # line: total
            meter.hidden = torch.tanh(meter.hidden + loss)  # line: hidden
            plain.extend([loss.detach(), loss.detach()])  # line: plain
            images.extend(Image.new("RGB", (4, 4)) for _ in range(3))
            meter.see(loss)
            embed(len(losses))
            by_step[len(losses)] = loss.exp()  # line: by_step
        print(len(losses), depth(losses[-1]), depth(total), depth(meter.hidden), flush=True)

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
read -r length of_loss of_total of_hidden <&"${JOB[0]}"
[ "$length" = 300 ] || fail "the job said $length"
wait "$counting" || fail "$(cat announced)"
python3 - "$of_loss" "$of_total" "$of_hidden" <<'PY'
import json, sys
answer = json.load(open("growth.json"))
assert answer["holders_trouble"] == "", answer["holders_trouble"]
by_path = {holder["path"]: holder for holder in answer["holders"]}
line_of = {text.split("# line: ")[1].strip(): number
           for number, text in enumerate(open("job.py"), 1) if "# line: " in text}
of_loss, of_total, of_hidden = map(int, sys.argv[1:])
assert of_loss < 10 and of_total > 300 and of_hidden > 600, sys.argv
# path, kind, held, length, graph depth, names of the lines that add and that make.
for path, kind, held, length, depth, added, made in (
        ("losses", "local", "torch.Tensor", 300, of_loss, "losses", "loss"),
        ("plain", "local", "torch.Tensor", 600, 0, "plain", "plain"),
        ("images", "local", "PIL.Image.Image", 900, None, None, None),
        ("outputs", "closure", "torch.Tensor", 300, of_loss - 2, "outputs", None),
        ("Meter.seen", "class attribute", "torch.Tensor", 300, of_loss + 1, "seen", "seen"),
        ("by_step", "global", "torch.Tensor", 300, of_loss + 1, "by_step", "by_step"),
        ("embed", "lru_cache", "torch.Tensor", 300, 0, None, None),
        ("data.cache", "global", "torch.Tensor", 300, 0, "cache", None)):
    holder = by_path[path]
    assert holder["kind"] == kind and holder["length_after"] == length, holder
    assert holder["grew"] == length * 2 // 3, holder
    assert holder["holds"][0]["type"] == held and holder["holds"][0]["count"] == length, holder
    assert holder["graph_depth"] == depth, (depth, holder)
    if depth is not None:
        looked_at = holder["tensors_looked_at"]
        assert looked_at > 0 and holder["tensors_with_graph"] == (looked_at if depth else 0), holder
    if added:
        assert [line["line"] for line in holder["added_at"]] == [line_of[added]], (added, holder)
    if made:
        assert holder["added_at"][0]["made_line"] == line_of[made], (made, holder)
for path, depth, line in (("total", of_total, "total"), ("meter.hidden", of_hidden, "hidden")):
    holder = by_path[path]
    assert holder["type"] == "torch.Tensor" and holder["grew"] == 0, holder
    assert holder["graph_depth"] == depth and 0 < holder["graph_depth_before"] < depth / 2, (depth, holder)
    assert [each["line"] for each in holder["added_at"]] == [line_of[line]], holder
losses = by_path["losses"]
assert losses["function"] == "train" and losses["file"].endswith("job.py") and losses["line"] > 0, losses
assert by_path["data.cache"]["owner"] == "__main__.Data", by_path["data.cache"]
# Named though it did not grow: what it holds decodes itself.
decoded = by_path["data.images"]
assert decoded["grew"] == 0 and decoded["length_after"] == 60, decoded
assert [each["line"] for each in decoded["added_at"]] == [line_of["decoded"]], decoded
PY
echo 1 >&"${JOB[1]}"
read -r length _ <&"${JOB[0]}"
[ "$length" = 301 ] || fail "the job said $length"
