# SPDX-License-Identifier: Apache-2.0
"""A worker outlives the process that started it and keeps growing.

The trainer starts a loader, the loader starts a worker and exits at once. The worker's parent is
now whoever reaps orphans. It gains 200 KiB about every 18 ms; the trainer is level.
Cause: the worker keeps Python objects (python-objects, or native-leak as far as memory tells).
Signal: nothing in the trainer and its children; a process outside its tree grows.
Verdict: leak, and the process to name is the orphan. A tool that follows children only says
plateau.
"""

import os
import select

import leaker


def orphan(alive, pace_s):
    """Grows until the trainer's end of the pipe closes."""
    kept = []
    while not select.select([alive], [], [], pace_s)[0]:
        kept.append(leaker.tensor(200))
    os._exit(0)


def main():
    args = leaker.arguments(__doc__)
    alive, held = os.pipe()
    loader = os.fork()
    if loader == 0:
        if os.fork() == 0:
            os.close(held)
            orphan(alive, args.step_s)
        os._exit(0)
    os.waitpid(loader, 0)
    os.close(alive)
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    for _ in loop:
        pass
    del model


if __name__ == "__main__":
    main()
