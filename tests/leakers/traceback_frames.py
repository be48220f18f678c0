# SPDX-License-Identifier: Apache-2.0
"""Keeps the exceptions it caught, and with them the frames and what their variables held.

Every second batch fails. The exception goes into a list for a report at the end; its traceback
refers to the frame, the frame to the batch of 400 KiB.
Cause: python-objects. Signal: anonymous memory rises by 400 KiB per failure; no counts are sent, so
memory alone cannot tell it from native-leak.
Verdict: leak.
"""

import leaker


def forward(step):
    batch = leaker.tensor(400)
    batch[0] = step % 256
    if step % 2 == 0:
        raise ValueError(f"step {step}: loss is not finite")


def main():
    args = leaker.arguments(__doc__)
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    failures = []
    for step in loop:
        try:
            forward(step)
        except ValueError as failure:
            failures.append(failure)
    del model


if __name__ == "__main__":
    main()
