# SPDX-License-Identifier: Apache-2.0
"""Starts a pool of compile helpers at the first step and keeps it.

The helpers' command line is the one torch's compile pool has: a side process that runs
torch/_inductor/compile_worker/__main__.py, and four workers forked from it with 10 MiB each.
Cause: start-up-state. Signal: five processes and some 70 MB appear at once, then nothing moves.
Verdict: plateau; the helpers have the role compile worker.
"""

import os
import subprocess
import sys

import leaker

POOL = os.path.join(os.path.dirname(__file__), "torch/_inductor/compile_worker/__main__.py")


def main():
    args = leaker.arguments(__doc__)
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    loop.pause(30)
    pool = None
    for step in loop:
        if step == 1:
            command = [sys.executable, POOL, "--workers=4", f"--parent={os.getpid()}"]
            pool = subprocess.Popen(command, stdin=subprocess.PIPE)
    pool.stdin.close()
    pool.wait()
    del model


if __name__ == "__main__":
    main()
