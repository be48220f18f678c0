#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 in the middle of a save, again and again, and once a log whose last line is cut: every
# checkpoint-N is whole, and the run that was killed ends in the same bytes as one that was not.
. "$(dirname "$0")/train_lib.sh"

small_case 24
options=(--batch-size 2 --gradient-accumulation-steps 1 --epochs 2 --learning-rate 1e-3 --save-steps 1 -q)
train whole "${options[@]}"
expect_code 0
[ "$(losses whole | wc -l)" -eq 24 ] || fail "not 24 steps"

# Kills the run as soon as a temporary directory of it is seen. Prints how many kills left one behind.
python3 - "$TRAINER" train -m tiny/model -d tiny/train.jsonl -o killed --threads 1 --load-in-32bit --save-method lora \
  "${options[@]}" >hits <<'PY' || fail "$(cat hits)"
import os, re, signal, subprocess, sys, time

def temporary():
    try:
        return [name for name in os.listdir("killed") if name.startswith(".checkpoint-")]
    except FileNotFoundError:
        return []

def last_step():
    try:
        found = [re.fullmatch(r"checkpoint-(\d+)", name) for name in os.listdir("killed")]
    except FileNotFoundError:
        return 0
    return max([int(match[1]) for match in found if match], default=0)

hits, tries, code = 0, 0, None
while hits < 3 and tries < 12 and code != 0:
    tries += 1
    begin, old = last_step(), set(temporary())
    job = subprocess.Popen(sys.argv[1:] + (["--resume"] if begin else []), stdout=subprocess.DEVNULL)
    # One whole checkpoint more, so that every try gets further; then the next one in the making.
    while job.poll() is None and last_step() == begin:
        time.sleep(0.001)
    while job.poll() is None and not set(temporary()) - old:
        pass
    job.send_signal(signal.SIGKILL)
    code = job.wait()
    assert code in (0, -signal.SIGKILL), code
    assert not old & set(temporary()), ("what the last kill left was not removed", old)
    hits += bool(set(temporary()) - old)
print(hits, "kills in the middle of a save,", tries, "tries, up to step", last_step())
assert hits > 0
PY
# A line that a power cut left half.
printf '{"step":99,"epoch":1.5,"lo' >>killed/log.jsonl
train killed "${options[@]}" --resume
expect_code 0
[ -z "$(find killed -mindepth 1 -maxdepth 1 -name '.*')" ] || fail "left behind: $(ls -A killed)"
losses whole >whole.txt
losses killed >killed.txt
cmp whole.txt killed.txt || fail "losses differ: $(cat hits)"
cmp whole/adapter/adapter_model.safetensors killed/adapter/adapter_model.safetensors || fail "adapters differ: $(cat hits)"
