# SPDX-License-Identifier: Apache-2.0
"""Forked workers that read the parent's list of records: each read writes a reference count, and so
copies the page. RSS stays level, the tree's PSS grows until every worker has touched every record.

mode=shard: each worker reads its own share of the data, all of it in the first epoch.
mode=shuffle: batches go to workers at random in each epoch, so that a worker needs several epochs
to meet all records; growth ends when each has met all.
"""
import gc
import multiprocessing

from steps import Job

FORK = multiprocessing.get_context("fork")


def read(pipe, records, per_item):
    """Touches the records of each item it is sent."""
    total = 0
    while (items := pipe.recv()) is not None:
        for item in items:
            for record in records[item * per_item:(item + 1) * per_item]:
                total += len(record["caption"])
        pipe.send(total)


job = Job(mode="shard", workers=3, per_item=200)
dataset = [{"id": i, "caption": f"a picture of number {i} " * 4, "box": (i, i + 1.5, i + 2.5)}
           for i in range(job.examples * job.per_item)]
gc.collect()
gc.freeze()
pipes, met = [], [set() for _ in range(job.workers)]
for _ in range(job.workers):
    ours, theirs = FORK.Pipe()
    FORK.Process(target=read, args=(theirs, dataset, job.per_item), daemon=True).start()
    pipes.append(ours)
for step in job:
    items = job.items(step)
    for i, pipe in enumerate(pipes):
        mine = [item for item in items if item % job.workers == i]
        if job.mode == "shuffle":
            mine = items if step % job.workers == i else []
        pipe.send(mine)
        met[i].update(mine)
    for pipe in pipes:
        pipe.recv()
    complete = job.examples * (job.workers if job.mode == "shuffle" else 1)
    if sum(map(len, met)) == complete:
        job.growth_ends(step)
