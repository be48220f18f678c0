# SPDX-License-Identifier: Apache-2.0
"""Prints the CPU time of one sample of a process tree with psutil, in microseconds.

usage: probe_cost_psutil.py ROOT_PID SAMPLES PAUSE_US
"""
import sys
import time

import psutil

root, samples, pause_us = (int(word) for word in sys.argv[1:4])


def sample():
    parent = psutil.Process(root)
    rows = []
    for process in [parent, *parent.children(recursive=True)]:
        with process.oneshot():
            rows.append((process.pid, process.create_time(), process.ppid(), process.name(), process.memory_info(),
                         process.cpu_times(), process.num_threads(), process.status()))
    return rows, psutil.virtual_memory(), psutil.swap_memory()


sample()
spent = 0.0
for _ in range(samples):
    time.sleep(pause_us / 1e6)
    begin = time.process_time()
    sample()
    spent += time.process_time() - begin
print(spent / samples * 1e6)
