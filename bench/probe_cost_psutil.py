# SPDX-License-Identifier: Apache-2.0
"""Prints the CPU time of one sample of a process tree with psutil, in microseconds.

usage: probe_cost_psutil.py light|same ROOT_PID SAMPLES PAUSE_US

Both find the tree anew, children(recursive=True), and read of each process in oneshot() create_time, ppid, name,
cpu_times, num_threads and status; and of the machine virtual_memory and swap_memory.
light reads memory_info besides (rss, shared); same reads memory_full_info besides, which has rss and shared, and uss,
pss and swap from a page-table walk.
"""
import sys
import time

import psutil

root, samples, pause_us = (int(word) for word in sys.argv[2:5])
same = sys.argv[1] == "same"


def sample():
    parent = psutil.Process(root)
    rows = []
    for process in [parent, *parent.children(recursive=True)]:
        with process.oneshot():
            memory = process.memory_full_info() if same else process.memory_info()
            rows.append((process.pid, process.create_time(), process.ppid(), process.name(), memory,
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
