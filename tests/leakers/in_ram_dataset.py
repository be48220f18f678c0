# SPDX-License-Identifier: Apache-2.0
"""Reads the whole dataset into memory before step 1.

Cause: start-up-state. Signal: anonymous memory rises by 120 MiB within the first second and is
level for the rest of the run.
Verdict: plateau.
"""

import leaker


def main():
    args = leaker.arguments(__doc__)
    loop = leaker.Loop(args)
    dataset = []
    for _ in range(60):
        dataset.append(leaker.tensor(2 * 1024))
        loop.pause(1)
    for step in loop:
        dataset[step % len(dataset)][0] = step % 256


if __name__ == "__main__":
    main()
