# SPDX-License-Identifier: Apache-2.0
"""A job that is level until a callback is switched on at a given step; the callback keeps things.

item_kb > 0: a per-example cache fills in the first epoch, long before.
"""
from steps import Job, fill

job = Job(onset_step=150, leak_kb=300.0, item_kb=0.0)
cache, kept = {}, []
for step in job:
    if job.item_kb:
        for item in job.items(step):
            cache.setdefault(item, fill(job.item_kb * 1024))
    if step > job.onset_step:
        kept.append([fill(job.leak_kb * 128 * job.random.uniform(0.5, 1.5)) for _ in range(8)])
        job.leak(sum(map(len, kept[-1])))
