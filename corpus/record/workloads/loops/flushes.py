# SPDX-License-Identifier: Apache-2.0
"""What piles up until something empties it.

mode=flush: records are buffered and written out every `interval` steps; flush_kept: what could not
be sent stays for ever. handler: logging's MemoryHandler hands its records on when it has `capacity`
of them; handler_alone: it was given no one to hand them to, and then never empties its buffer.
detach: each loss refers to the one before it, up to a cut every `interval` steps; graph: no cut.
cycles: reference cycles, found by the collector after `capacity` new objects; cycles_off: the
collector is switched off. held: a backlog that bursts fill and the consumer drains, at most
`capacity` items; behind: work comes a little faster than it is done.
"""
import collections
import gc
import logging
import logging.handlers
import sys

from steps import Job, fill


def size_of(job):
    return job.part_kb * 1024 * job.random.uniform(0.5, 1.5)


def flush(job):
    buffer = []
    for step in job:
        buffer.extend(fill(size_of(job) / 8) for _ in range(8))
        if step % job.interval == 0:
            buffer.clear()
            if job.mode == "flush_kept":
                job.keep_for_ever(job.rest_kb * 1024 * job.random.uniform(0.2, 1.8))
            else:
                job.growth_ends(step)


def handler(job):
    target = logging.NullHandler() if job.mode == "handler" else None
    memory = logging.handlers.MemoryHandler(job.capacity, logging.CRITICAL, target)
    log = logging.Logger("job")
    log.addHandler(memory)
    for step in job:
        for number in range(job.count):
            text = "y" * int(size_of(job))
            log.info("%d %d %s", step, number, text)
            if job.mode == "handler_alone":
                job.leak(sys.getsizeof(text))
        if job.mode == "handler" and step * job.count > job.capacity:
            job.growth_ends(step)


class Node:
    """A result that remembers what it was made of."""

    def __init__(self, before, payload):
        self.before, self.payload, self.itself = before, payload, None


def graph(job):
    last = None
    for step in job:
        last = Node(last, fill(size_of(job)))
        if job.mode == "graph":
            job.leak(len(last.payload))
        elif step % job.interval == 0:
            last = None
            job.growth_ends(step)


def cycles(job):
    full_collections = []
    gc.callbacks.append(lambda phase, info: phase == "stop" and full_collections.append(phase))
    gc.freeze()
    if job.mode == "cycles_off":
        gc.disable()
    else:
        gc.set_threshold(job.capacity, 1, 1)
    for step in job:
        for _ in range(job.count):
            node = Node(None, fill(size_of(job)))
            node.itself = node
            if job.mode == "cycles_off":
                job.leak(len(node.payload))
        if full_collections and job.mode == "cycles":
            job.growth_ends(step)


def backlog(job):
    waiting, size = collections.deque(), 0
    for step in job:
        arriving = job.random.uniform(0.5, 1.5) * job.count
        if job.mode == "held":
            arriving = job.count * 4 if job.random.random() < 0.12 else 0
        for _ in range(round(arriving)):
            if job.mode == "held" and len(waiting) >= job.capacity:
                job.growth_ends(step)
                break
            waiting.append(fill(size_of(job)))
            size += len(waiting[-1])
        for _ in range(min(len(waiting), job.done)):
            size -= len(waiting.popleft())
        if job.mode == "behind" and step == job.steps:
            job.leak(size)


MODES = {"flush": flush, "flush_kept": flush, "handler": handler, "handler_alone": handler,
         "detach": graph, "graph": graph, "cycles": cycles, "cycles_off": cycles,
         "held": backlog, "behind": backlog}
this_job = Job(mode="flush", interval=50, part_kb=100.0, rest_kb=0.0, capacity=1000, count=10,
               done=8)
MODES[this_job.mode](this_job)
