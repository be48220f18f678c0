# SPDX-License-Identifier: Apache-2.0
"""A thread pool that starts its threads lazily; each thread keeps a decode buffer of its own.

concurrent.futures starts a thread only when none is idle, up to max_workers: load rises over the
run, so threads appear one by one, and the last one is the last growth.
"""
import concurrent.futures
import threading
import time

from steps import MIB, Job, fill

job = Job(threads=12, buffer_mb=4.0, rise_every=15)
local = threading.local()


def decode(seconds):
    """Decodes into this thread's buffer, made at its first use."""
    if not hasattr(local, "buffer"):
        local.buffer = fill(job.buffer_mb * MIB)
    time.sleep(seconds)


with concurrent.futures.ThreadPoolExecutor(job.threads) as pool:
    for step in job:
        parallel = min(job.threads, 1 + step // job.rise_every)
        concurrent.futures.wait([pool.submit(decode, 0.004) for _ in range(parallel)])
        if threading.active_count() > job.threads:
            job.growth_ends(step)
