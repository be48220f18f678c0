# SPDX-License-Identifier: Apache-2.0
"""An LRU cache of augmented examples: every step brings new keys, until the capacity is reached.

The keys never repeat (each augmentation is drawn anew), so the cache fills at a steady rate over
several epochs and from then on evicts one entry for each it adds: bounded by its capacity.
"""
import collections

from steps import Job, fill

job = Job(capacity=2000, entry_kb=40.0, keep=0.5)
cache = collections.OrderedDict()
for step in job:
    for item in job.items(step):
        if job.random.random() < job.keep:
            cache[(item, step)] = fill(job.entry_kb * 1024 * job.random.uniform(0.6, 1.4))
    while len(cache) > job.capacity:
        cache.popitem(last=False)
        job.growth_ends(step)
