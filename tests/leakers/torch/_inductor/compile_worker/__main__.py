# SPDX-License-Identifier: Apache-2.0
"""The side process of compile_workers.py: forks four workers, ends when its standard input does."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../.."))
import leaker  # noqa: E402

workers = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        compiled = leaker.tensor(10 * 1024)
        sys.stdin.read()
        os._exit(0)
    workers.append(pid)
sys.stdin.read()
for pid in workers:
    os.waitpid(pid, 0)
