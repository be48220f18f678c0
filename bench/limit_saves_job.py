# SPDX-License-Identifier: Apache-2.0
"""A job that leaks, forks its workers anew each epoch, and saves when it gets SIGUSR1.

    limit_saves_job.py BASE_MB MB_PER_STEP STEP_SECONDS CHECKPOINT

It holds BASE_MB that its four workers only read, as a DataLoader's do, and keeps MB_PER_STEP more at
each step. Asked to save, it ends its step, then writes CHECKPOINT, for which it needs 20 MB more for
a moment, and exits with code 0. Unasked it goes on until it is killed.
"""
import os
import signal
import sys
import time

EPOCH_STEPS = 20
WORKERS = 4
CHECKPOINT_MB = 20

asked = False


def on_save(number, frame):
    global asked
    asked = True


def fork_workers(seconds):
    pids = []
    for _ in range(WORKERS):
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            time.sleep(seconds)
            os._exit(0)
        pids.append(pid)
    return pids


def save(path):
    state = bytearray(b"s") * (CHECKPOINT_MB * 1_000_000)
    with open(path, "wb") as file:
        file.write(state)


def main():
    base_mb, mb_per_step, step_s = (float(word) for word in sys.argv[1:4])
    signal.signal(signal.SIGUSR1, on_save)
    data = bytearray(os.urandom(1_000_000)) * int(base_mb)
    kept = []
    step = 0
    while True:
        workers = fork_workers(0.8 * EPOCH_STEPS * step_s)
        for _ in range(EPOCH_STEPS):
            step += 1
            kept.append(bytearray(b"x") * int(mb_per_step * 1_000_000))
            time.sleep(step_s)
            print("step", step, flush=True)
            if asked:
                save(sys.argv[4])
                print("saved with", len(data) // 1_000_000 + round(mb_per_step * step), "MB", flush=True)
                os._exit(0)
        for pid in workers:
            os.waitpid(pid, 0)


main()
