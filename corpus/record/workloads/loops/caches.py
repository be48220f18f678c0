# SPDX-License-Identifier: Apache-2.0
"""Caches of a training or serving loop, each with the bound it needs and without.

mode=ttl: entries are dropped `life` steps after they were made. ttl_index: they are, but the index
that finds them keeps its record of each. clear: the cache is emptied every `life` steps.
clear_index: so it is, but a second table is forgotten. rotate: two generations, the older is
dropped every `life` steps; rotate_kept: part of a dropped generation hangs on a list. finite: as
many keys as `life` steps bring, over and over; new: never the same key. zipf: few keys are frequent
and many rare, at most `capacity` are cached; zipf_open: the same without capacity, so that growth
slows down but never ends. `entries` of entry_kb come at each step, rest_kb is what a leak forgets.
"""
import collections

from steps import Job, fill


def entry(job):
    return fill(job.entry_kb * 1024 * job.random.uniform(0.5, 1.5))


def rest(job):
    return job.rest_kb * 1024 * job.random.uniform(0.5, 1.5)


def ttl(job):
    cache = collections.deque()
    for step in job:
        cache.extend((step, entry(job)) for _ in range(job.entries))
        if job.mode == "ttl_index":
            job.keep_for_ever(rest(job))
        while cache[0][0] <= step - job.life:
            cache.popleft()
            if job.mode == "ttl":
                job.growth_ends(step)


def clear(job):
    cache = []
    for step in job:
        cache.extend(entry(job) for _ in range(job.entries))
        if job.mode == "clear_index":
            job.keep_for_ever(rest(job))
        if step % job.life == 0:
            cache.clear()
            if job.mode == "clear":
                job.growth_ends(step)


def rotate(job):
    young, old = [], []
    for step in job:
        young.extend(entry(job) for _ in range(job.entries))
        if step % job.life == 0:
            if old and job.mode == "rotate_kept":
                job.keep_for_ever(rest(job))
            elif old:
                job.growth_ends(step)
            young, old = [], young


def keys(job):
    cache, bound = {}, job.life * job.entries
    for step in job:
        for number in range((step - 1) * job.entries, step * job.entries):
            key = number % bound if job.mode == "finite" else number
            if key not in cache:
                cache[key] = entry(job)
                if job.mode == "new":
                    job.leak(len(cache[key]))
        if job.mode == "finite" and len(cache) == bound:
            job.growth_ends(step)


def zipf(job):
    cache = collections.OrderedDict()
    for step in job:
        for _ in range(job.entries):
            key = int(job.random.paretovariate(job.alpha))
            if key in cache:
                cache.move_to_end(key)
                continue
            cache[key] = entry(job)
            if job.mode == "zipf_open":
                job.leak(len(cache[key]))
            elif len(cache) > job.capacity:
                cache.popitem(last=False)
                job.growth_ends(step)


MODES = {"ttl": ttl, "ttl_index": ttl, "clear": clear, "clear_index": clear, "rotate": rotate,
         "rotate_kept": rotate, "finite": keys, "new": keys, "zipf": zipf, "zipf_open": zipf}
this_job = Job(mode="ttl", entries=4, entry_kb=20.0, life=100, rest_kb=0.0, capacity=1000,
               alpha=0.7)
MODES[this_job.mode](this_job)
