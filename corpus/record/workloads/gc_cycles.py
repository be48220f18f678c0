# SPDX-License-Identifier: Apache-2.0
"""Objects in reference cycles, freed only when the cyclic collector runs: a sawtooth.

The collector is CPython's own, with a threshold that makes it run every few dozen steps, as a job
with a raised threshold does. The floor after each collection is level. With leak_kb > 0 a little
of what each step makes is also kept in a list for ever: the floor rises.
mapped=N: every Nth node holds a mapping of its own, as large tensors do, which the collection gives
back to the system. mapped=0: the payloads are small blocks of the heap, and the allocator decides.
"""
import gc
import mmap

from steps import Job, fill


class Node:
    """One end of a cycle with a payload."""

    def __init__(self, payload):
        self.payload = payload
        self.back = [self]


def mapping(size):
    """Returns a touched anonymous mapping."""
    memory = mmap.mmap(-1, int(size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(fill(size))
    return memory


job = Job(nodes=200, payload_kb=4.0, period=80, leak_kb=0.0, mapped=0)
# A node makes about three tracked containers (itself, its dict, its list); noise objects die by
# reference count and leave the counter as it was.
gc.collect()
gc.freeze()
gc.set_threshold(job.nodes * job.period * 2, 1000, 1000)
collections_before = gc.get_stats()[0]["collections"]
kept = []
for step in job:
    for i in range(int(job.nodes * job.random.uniform(0.6, 1.4))):
        size = job.payload_kb * 1024 * job.random.uniform(0.5, 1.5)
        if not job.mapped:
            Node(fill(size))
        else:
            Node(mapping(size) if i % job.mapped == 0 else None)
    if job.leak_kb:
        kept.append(fill(job.leak_kb * 1024 * job.random.uniform(0.5, 1.5)))
        job.leak(len(kept[-1]))
    elif gc.get_stats()[0]["collections"] > collections_before:
        job.growth_ends(step)
