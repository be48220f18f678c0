# SPDX-License-Identifier: Apache-2.0
"""Streams examples through a shuffle buffer of 600 places.

Each step takes six examples from the stream and gives back four until the buffer is full, then six.
The stream has no epoch. Steps are not sent; they are read from the lines that are printed.
Cause: bounded-cache. Signal: anonymous memory rises by 400 KiB a step up to step 300, then is level
while examples go on coming and going.
Verdict: plateau.
"""

import random

import leaker

PLACES = 600


def main():
    args = leaker.arguments(__doc__, steps=700, step_ms=16)
    print(f"streaming, max_steps = {args.steps}", flush=True)
    loop = leaker.Loop(args, quiet=True)
    model = leaker.tensor(40 * 1024)
    dice = random.Random(9)
    buffer = []
    for step in loop:
        buffer.extend(leaker.tensor(200) for _ in range(6))
        give_back = 6 if len(buffer) > PLACES else 4
        for _ in range(give_back):
            buffer.pop(dice.randrange(len(buffer)))
        if step % 5 == 0:
            print(f"step {step}: loss = {1 / step:.5f}", flush=True)
    del model


if __name__ == "__main__":
    main()
