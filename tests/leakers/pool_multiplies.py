# SPDX-License-Identifier: Apache-2.0
"""Starts a new pool of two workers for every evaluation and never closes the old ones.

Cause: worker-pools. Signal: the number of processes rises at every evaluation and the tree's owned
memory with it, 2 x 6 MiB each; no single process grows.
Verdict: leak.
"""

import os

import leaker


def start_worker(pipes):
    """A worker with 6 MiB of its own that waits for work until the job ends."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        for pipe in pipes + [writing]:
            os.close(pipe)
        held = leaker.tensor(6 * 1024)
        os.read(reading, 1)
        del held
        os._exit(0)
    os.close(reading)
    pipes.append(writing)


def main():
    args = leaker.arguments(__doc__, epoch_steps=100, step_ms=16)
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    pipes = []
    for step in loop:
        if step % 50 != 0:
            continue
        loop.say("begin eval")
        for _ in range(2):
            start_worker(pipes)
        loop.pause(8)
        loop.say("end eval")
    del model


if __name__ == "__main__":
    main()
