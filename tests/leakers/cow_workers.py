# SPDX-License-Identifier: Apache-2.0
"""Three forked workers read a large list of Python objects that the parent made.

Reading an object writes its reference count, a written page is copied, and so each worker comes to
own the whole list although nothing is allocated.
Cause: copy-on-write. Signal: RSS of every process is level; PSS and Pss_Anon of the tree rise, then
saturate when every page was touched once by every worker, towards the end of the first epoch.
Verdict: plateau (or warming): it ends at (1 + workers) times the list.
"""

import os
import random

import leaker

RECORDS = 170_000
WORKERS = 3


def work(records, orders, worker):
    """One byte is one step's share of records."""
    share = len(records) // (200 * WORKERS)
    dice = random.Random(worker)
    seen = 0
    while os.read(orders, 1):
        for _ in range(share):
            seen += records[int(dice.random() * len(records))] is not None
    os._exit(0)


def main():
    args = leaker.arguments(__doc__, epoch_steps=200, batch=RECORDS // 200)
    records = [f"record {i:08d} " + "x" * 390 for i in range(RECORDS)]
    pipes = []
    for worker in range(WORKERS):
        reading, writing = os.pipe()
        if os.fork() == 0:
            for pipe in pipes + [writing]:
                os.close(pipe)
            work(records, reading, worker)
        os.close(reading)
        pipes.append(writing)
    loop = leaker.Loop(args)
    for _ in loop:
        for pipe in pipes:
            os.write(pipe, b"s")


if __name__ == "__main__":
    main()
