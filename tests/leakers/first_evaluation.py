# SPDX-License-Identifier: Apache-2.0
"""Makes buffers at the first evaluation and uses them again at all later ones.

Cause: first-events. Signal: one step up of 50 MiB at the first of eight evaluations, level before
and after.
Verdict: plateau.
"""

import leaker


def main():
    args = leaker.arguments(__doc__, epoch_steps=150, step_ms=16)
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    buffers = []
    for step in loop:
        if step % 75 != 0:
            continue
        loop.say("begin eval")
        if not buffers:
            buffers = [leaker.tensor(1024) for _ in range(50)]
        for at, buffer in enumerate(buffers):
            buffer[step % len(buffer)] = at
        loop.pause(6)
        loop.say("end eval")
    del model


if __name__ == "__main__":
    main()
