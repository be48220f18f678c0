#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job that does nothing but fork: a shell with COUNT subshells, one after the other.

    bench/heap/forks.py COUNT

Prints what overhead.py reads: a checksum, and the CPU and the largest memory of the shell and its children.
"""
import resource
import subprocess
import sys

count = int(sys.argv[1])
subprocess.run(["bash", "-c", f"for ((i = 0; i < {count}; i++)); do (:); done"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(count)
print(f"usage: cpu_s={used.ru_utime + used.ru_stime:.3f} peak_kb={used.ru_maxrss}", file=sys.stderr)
