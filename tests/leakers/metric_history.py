# SPDX-License-Identifier: Apache-2.0
"""Appends every metric of every step to a list that nobody reads.

Cause: python-objects. Signal: anonymous memory rises by some 0.2 MB a step, and with it the count
of objects, sent as the gauge "objects" every 10 steps.
Verdict: leak. With --slow-exit the history is taken apart for 1.5 seconds after the last step, as
interpreters do at their end: the fall is no part of training and must not change the verdict.
"""

import gc
import time

import leaker


def main():
    args = leaker.arguments(
        __doc__, extra=lambda parser: parser.add_argument("--slow-exit", action="store_true")
    )
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    history = []
    for step in loop:
        history.append({"step": step, "tokens": [[step * 0.5 + token] for token in range(1800)]})
        if step % 10 == 0:
            loop.say(f"gauge objects {len(gc.get_objects())}")
    if args.slow_exit:
        pieces = len(history) // 30 + 1
        while history:
            del history[-pieces:]
            time.sleep(0.05)
    del model


if __name__ == "__main__":
    main()
