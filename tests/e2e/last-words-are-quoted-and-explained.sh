#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a job says when it gets no memory is quoted and explained with what it held, by run, judge and
# the page alike, from a recording and from a log; a message that is followed by steps ended nothing.
# Jobs that print it without end, in endless lines or with escapes and secrets hurt nobody.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# job.py WORDS...: 30 steps that grow by 2 MB, then as the words say.
cat >job.py <<'PY'
import sys, time
words = sys.argv[1:]
held = []
for step in range(30):
    held.append(bytearray(b"x") * 2_000_000)
    print("Step", step, flush=True)
    if "midway" in words and step == 10:
        print("warning: CUDA out of memory caught, trying again", file=sys.stderr, flush=True)
    time.sleep(0.03)
if "raises" in words:
    raise MemoryError("--hf_token hf_abcdefghijklmnopqrstuvwxyz0123 \033[31mred\033[0m")
if "limited" in words:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
    print("Step 30", flush=True)
    time.sleep(0.7)  # For a look at it.
    bytearray(2 << 30)
if "babbles" in words:
    line = "MemoryError: again\n" * 20000
    for _ in range(50):
        sys.stdout.write(line)
    sys.stdout.write("x" * 10_000_000 + "\n")
    sys.stdout.write("std::bad_alloc without an end of line")
    sys.exit(1)
PY

run "$PLATEAU" run --no-plot -o raises.plateau -- python3 job.py raises
expect_code 1
tr -s '\n ' '  ' <err >said
expect_in said 'Its last words on memory, at step '
expect_in said '“MemoryError: --hf_token [redacted] red”'
expect_in said "An allocation was refused."
expect_in said "The job held"
[ "$(grep -c 'hf_abcdef' err)" -le 2 ] || fail "the secret is said by more than the job: $(cat err)"
run "$PLATEAU" judge --no-plot raises.plateau
tr -s '\n ' '  ' <out >again
expect_in again '“MemoryError: --hf_token [redacted] red”'
expect_not_in again "hf_abcdef"
expect_harmless again
run "$PLATEAU" judge --json raises.plateau
python3 - <<'PY' || fail "the fact is not in the answer"
import json
answer = json.load(open("out"))
fact = answer["facts"]["evidence"][0]
assert fact["kind"] == "last-words", fact
assert fact["names"]["message"] == "host-memory", fact
assert fact["numbers"]["said_step"] > 10 and fact["numbers"]["held_mb"] > 20, fact
PY
"$PLATEAU" report raises.plateau -o page.html
expect_not_in page.html hf_abcdef

# A limit on address space is the reason, although the message is the same.
run "$PLATEAU" run --no-plot -o limited.plateau -- python3 job.py limited
expect_code 1
tr -s '\n ' '  ' <err >said
expect_in said "refused by the limit on address space"
expect_in said "The limit on address space is 629 MB"

# Said midway, it ended nothing; and the job's success is not doubted.
run "$PLATEAU" run --no-plot -o midway.plateau -- python3 job.py midway
expect_code 0
tr -s '\n ' '  ' <err >said
expect_in said "and went on: that did not end it"
expect_not_in said "last words"

# A million of them, a line of 10 MB and one without an end are a handful of events.
run "$PLATEAU" run --no-plot -o babbles.plateau -- python3 job.py babbles
expect_code 1
[ "$(wc -c <out)" -gt 29000000 ] || fail "output was lost: $(wc -c <out)"
[ "$("$PLATEAU" dump --records babbles.plateau | grep -c 'MemoryError: again')" -lt 12 ] || fail "the recording is full of it"
tr -s '\n ' '  ' <err >said
expect_in said "Its last words on memory"

# The same in a log, also where another program's reader wrote it and figures stand in the message.
{
  for ((step = 1; step <= 40; step++)); do echo "Step $step: RAM: $((4000 + step * 100)) MB"; done
  echo "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.06 GiB is free. Including non-PyTorch memory, this process has 78.08 GiB memory in use."
} >gpu.log
run "$PLATEAU" judge --no-plot gpu.log
tr -s '\n ' '  ' <out >said
expect_in said 'Its last words on memory, at step 40: “torch.OutOfMemoryError'
expect_in said "The GPU's memory was full"
expect_in said "It asked for 2.15 GB. The GPU has 85.0 GB, 1.14 GB of it free."
{ cat gpu.log; for ((step = 41; step <= 60; step++)); do echo "Step $step: RAM: $((4000 + step * 100)) MB"; done; } >on.log
run "$PLATEAU" judge --no-plot on.log
tr -s '\n ' '  ' <out >said
expect_in said "at step 40 and went on"
