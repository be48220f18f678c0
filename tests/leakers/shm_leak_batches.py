# SPDX-License-Identifier: Apache-2.0
"""A worker sends batches through /dev/shm and the trainer keeps them in a list.

Cause: shared-memory. Signal: the trainer's RssShmem and the tree's Pss_Shmem rise by 256 KiB a
step; anonymous memory of both is level. The worker unmaps each batch, so only the trainer holds it.
Verdict: leak, in the component "shmem".
"""

import mmap
import os
import tempfile

import leaker

BATCH = 256 * 1024


def load(orders, answers):
    """Writes one batch per byte of orders and answers with its path."""
    page = b"\x01" * BATCH
    while os.read(orders, 1):
        fd, path = tempfile.mkstemp(prefix="plateau-leaker-", dir="/dev/shm")
        with os.fdopen(fd, "wb") as segment:
            segment.write(page)
        os.write(answers, path.encode() + b"\n")
    os._exit(0)


def main():
    args = leaker.arguments(__doc__)
    orders_out, orders_in = os.pipe()
    answers_out, answers_in = os.pipe()
    if os.fork() == 0:
        os.close(orders_in)
        os.close(answers_out)
        load(orders_out, answers_in)
    os.close(orders_out)
    os.close(answers_in)
    answers = os.fdopen(answers_out)
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    kept = []
    for _ in loop:
        os.write(orders_in, b"b")
        path = answers.readline().strip()
        with open(path, "r+b") as segment:
            os.unlink(path)
            batch = mmap.mmap(segment.fileno(), BATCH)
        for at in range(0, BATCH, mmap.PAGESIZE):
            batch[at] = 2
        kept.append(batch)
    del model


if __name__ == "__main__":
    main()
