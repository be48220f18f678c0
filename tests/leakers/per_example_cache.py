# SPDX-License-Identifier: Apache-2.0
"""Decodes examples through functools.lru_cache(maxsize=None), over four epochs.

Cause: per-example-cache. Signal: anonymous memory rises by 0.8 MiB a step, 200 KiB for each example
seen for the first time, and stops at step 150 where the first epoch ends.
Verdict: plateau; before step 150 it cannot be told from a leak.
"""

import functools

import leaker


@functools.lru_cache(maxsize=None)
def decode(example):
    decoded = leaker.tensor(200)
    decoded[0] = example % 256
    return decoded


def main():
    args = leaker.arguments(__doc__)
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    for step in loop:
        for example in leaker.batch_of_step(args, step):
            decode(example)
    del model


if __name__ == "__main__":
    main()
