# SPDX-License-Identifier: Apache-2.0
"""A cache of buckets whose keys are drawn with replacement from a finite set (coupon collector).

New keys become rarer and rarer: the level approaches its bound exponentially and reaches it late,
after about n ln n draws. Growth ends when the last key has been drawn.
"""
from steps import Job, fill

job = Job(keys=1000, draws=10, value_kb=60.0)
cache = {}
for step in job:
    for _ in range(job.draws):
        key = job.random.randrange(job.keys)
        if key not in cache:
            cache[key] = fill(job.value_kb * 1024 * job.random.uniform(0.7, 1.3))
    if len(cache) == job.keys:
        job.growth_ends(step)
