# SPDX-License-Identifier: Apache-2.0
"""Keeps the outputs of every step until the epoch ends, then drops them.

Cause: epoch-history. Signal: anonymous memory ramps up by 300 KiB a step and falls back by 30 MiB
every 100 steps; the floor at the starts of epochs is level.
Verdict: plateau. Within the first epoch it looks like a leak.
"""

import leaker


def main():
    args = leaker.arguments(__doc__, epoch_steps=100)
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    outputs = []
    for step in loop:
        outputs.append(leaker.tensor(300))
        if step % args.epoch_steps == 0:
            loop.say("mark epoch")
            outputs.clear()
    del model


if __name__ == "__main__":
    main()
