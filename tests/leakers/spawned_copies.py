# SPDX-License-Identifier: Apache-2.0
"""Three spawned workers each unpickle a copy of the dataset when they start.

Cause: start-up-state (the dataset is copied per worker). Signal: three processes appear and each
takes 30 MiB within its first second; then everything is level.
Verdict: plateau, at (1 + workers) times the dataset.
"""

import multiprocessing

import leaker


def load(records, orders):
    seen = 0
    while orders.get() is not None:
        seen += len(records[seen % len(records)])


def main():
    args = leaker.arguments(__doc__)
    loop = leaker.Loop(args)
    records = [bytes([i % 256]) * (512 * 1024) for i in range(60)]
    loop.pause(30)
    spawn = multiprocessing.get_context("spawn")
    workers = []
    for _ in range(3):
        orders = spawn.Queue()
        worker = spawn.Process(target=load, args=(records, orders), daemon=True)
        worker.start()
        workers.append((worker, orders))
    for _ in loop:
        for _, orders in workers:
            orders.put(1)
    for worker, orders in workers:
        orders.put(None)
        worker.join()


if __name__ == "__main__":
    main()
