# SPDX-License-Identifier: Apache-2.0
"""The job of the documentation's commands: keeps every example it decodes, for three passes over the data.

A second and a half: 600 steps, of which the first 200 keep half a megabyte each. With an argument it waits that many
seconds then, to be looked at.
"""
import sys
import time

EXAMPLES, BATCH, EPOCHS = 800, 4, 3
print(f"training on {EXAMPLES} examples, batch {BATCH}", flush=True)
decoded = {}
step = 0
for _ in range(EPOCHS):
    for first in range(0, EXAMPLES, BATCH):
        for example in range(first, first + BATCH):
            if example not in decoded:
                decoded[example] = bytearray(b"\x01") * 125_000
        step += 1
        time.sleep(0.0015)
        print(f"step {step} loss {1 / step:.3f}", flush=True)
if len(sys.argv) > 1:
    for _ in range(10 * int(sys.argv[1])):
        time.sleep(0.1)
