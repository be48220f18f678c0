# SPDX-License-Identifier: Apache-2.0
"""Hugging Face datasets: Arrow tables on disk, in memory, and streamed.

mode=mapped: rows of a table on disk, read in its order; reading them maps its pages. File-backed
growth that ends when every row was read: the first epoch. (In random order a few steps map it all,
as the kernel maps up to 2 MiB at a time.)
mode=shuffle: a stream with a shuffle buffer, which fills before the first row comes out and runs
empty at the end of each epoch.
mode=window: tables of the last `keep` steps, concatenated at each step.
mode=rollouts (leak): the table of each step is concatenated to all before it.
"""
import collections
import tempfile

from stack_steps import StackJob
import datasets
import numpy

job = StackJob(mode="mapped", row_kb=60, buffer=200, keep=40, rows=16)
draw = numpy.random.default_rng(job.seed)


def rows(count):
    """Returns columns of drawn rows."""
    values = draw.standard_normal((count, job.row_kb * 256), dtype=numpy.float32)
    return {"values": values, "label": draw.integers(0, 10, count)}


def mapped():
    folder = tempfile.mkdtemp()
    numbers = datasets.Dataset.from_dict({"number": list(range(job.examples))})
    numbers.map(lambda batch: rows(len(batch["number"])), batched=True, batch_size=50,
                remove_columns=["number"]).save_to_disk(folder)
    del numbers
    data = datasets.load_from_disk(folder).with_format("numpy")
    for step in job:
        first = (step - 1) % job.epoch_steps * job.batch
        data[first:first + job.batch]["values"].mean()
        if step == job.epoch_steps:
            job.growth_ends(step)


def streamed():
    """Yields the rows of one epoch, one by one."""
    for number in range(job.examples):
        yield {"number": number, "values": draw.standard_normal(job.row_kb * 128)}


def shuffle():
    data = datasets.IterableDataset.from_generator(streamed)
    data = data.shuffle(seed=job.seed, buffer_size=job.buffer)
    source = iter(data)
    for step in job:
        for _ in range(job.batch):
            row = next(source, None)
            if row is None:
                source = iter(data)
                row = next(source)
        job.growth_ends(step)


def window():
    recent = collections.deque(maxlen=job.keep)
    for step in job:
        recent.append(datasets.Dataset.from_dict(rows(job.random.randrange(1, 2 * job.rows))))
        data = datasets.concatenate_datasets(list(recent)).with_format("numpy")
        data[sorted(job.random.sample(range(len(data)), 1))]["values"].mean()
        if len(recent) == job.keep:
            job.growth_ends(step)


def rollouts():
    data = datasets.Dataset.from_dict(rows(job.rows))
    for step in job:
        new = datasets.Dataset.from_dict(rows(job.random.randrange(1, 2 * job.rows)))
        job.leak(new.data.nbytes)
        data = datasets.concatenate_datasets([data, new])
        data.with_format("numpy")[job.random.randrange(len(data))]["values"].mean()


{"mapped": mapped, "shuffle": shuffle, "window": window, "rollouts": rollouts}[job.mode]()
