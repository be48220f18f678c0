# SPDX-License-Identifier: Apache-2.0
"""Makes objects that refer to each other, with a tensor attached, and drops them.

Reference counts alone never free them. With the collector switched off (the default here, and in
training scripts that want no pauses) they stay: 200 KiB a step.
  Cause: python-objects. Signal: anonymous memory and the count of tracked objects rise together.
  Verdict: leak.
With --gc the collector runs when some 700 new objects have come together, about every 60 steps:
  Cause: sawtooth. Signal: teeth of 12 MiB over a level floor. Verdict: plateau.
"""

import gc

import leaker


class Node:
    def __init__(self):
        self.other = None
        self.tensor = None


def make_cycle():
    one, two = Node(), Node()
    one.other, two.other = two, one
    one.tensor = leaker.tensor(200)
    # A small cyclic crowd, so that the collector's count of new objects moves.
    for _ in range(9):
        one = Node()
        one.other = one


def main():
    args = leaker.arguments(
        __doc__, extra=lambda parser: parser.add_argument("--gc", action="store_true")
    )
    if not args.gc:
        gc.disable()
    gc.freeze()
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    for step in loop:
        make_cycle()
        if step % 10 == 0 and not args.gc:
            loop.say(f"gauge objects {len(gc.get_objects())}")
    del model


if __name__ == "__main__":
    main()
