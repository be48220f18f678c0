# SPDX-License-Identifier: Apache-2.0
"""torch DataLoaders with worker processes.

mode=records: examples are Python objects that forked workers read, so that each read copies a page.
mode=cached: __getitem__ keeps what it decodes, in each process that runs it.
Both are bounded: with workers that end with the epoch it starts anew with each, else it ends when
every worker has met every example; without workers, with the first epoch.
mode=kept (leak): each epoch makes a new loader with persistent workers, and a list keeps it.
mode=masks (leak): workers send batches through shared memory; the masks of all are kept.
"""
import gc

from stack_steps import MIB, StackJob
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

from small_models import bytes_of, perceptron, train_vectors

job = StackJob(mode="records", workers=2, persistent=0, per_item=200, item_kb=100,
                      worker_mb=4, width=64, layers=2)
torch.manual_seed(job.seed)
scratch = []  # of a worker; empty in the job itself
FORKED_MB = 10  # what a forked worker copies by running at all: about, as measured


class Examples(Dataset):
    """Gives (example number, number of the worker, payload)."""

    def __init__(self):
        self.cache, self.records = {}, []
        if job.mode == "records":
            self.records = [{"id": i, "caption": f"a picture of number {i} " * 4, "box": (i, 1.5)}
                            for i in range(job.examples * job.per_item)]

    def __len__(self):
        return job.examples

    def __getitem__(self, item):
        worker = get_worker_info().id if get_worker_info() else 0
        return item, worker, self.payload(item)

    def payload(self, item):
        """Returns what the mode makes of an example, as a tensor."""
        if job.mode == "records":
            rows = self.records[item * job.per_item:(item + 1) * job.per_item]
            return torch.tensor([len(row["caption"]) for row in rows])
        if job.mode == "cached":
            if item not in self.cache:
                self.cache[item] = torch.randn(job.item_kb * 256)
            return self.cache[item][:1000]
        return torch.randn(job.item_kb * 256)


def started(worker):
    """Gives a worker the buffers that it decodes with."""
    if job.mode == "kept":
        scratch.append(bytearray(b"\x5a" * (job.worker_mb * MIB)))


def loader_of(dataset):
    """Returns a loader over the examples, shuffled anew at each epoch."""
    persistent = job.workers > 0 and (job.persistent == 1 or job.mode == "kept")
    return DataLoader(dataset, job.batch, shuffle=True, num_workers=job.workers,
                      persistent_workers=persistent, worker_init_fn=started)


def batches():
    """Yields the batches of all epochs."""
    dataset, loaders = Examples(), []
    gc.collect()
    gc.freeze()
    while True:
        if job.mode == "kept" or not loaders:
            loaders.append(loader_of(dataset))
        if job.mode == "kept":
            job.leak(job.workers * (job.worker_mb + FORKED_MB) * MIB)
        yield from loaders[-1]


model = perceptron(job.width, job.layers)
optimizer = torch.optim.Adam(model.parameters())
met, masks, source = set(), [], batches()
complete = job.examples * (job.workers if job.persistent and job.workers else 1)
for step in job:
    items, workers, payload = next(source)
    payload.sum()  # pages of shared memory count for the process only once it has read them
    train_vectors(model, optimizer, 4 * job.batch)
    met.update(zip(items.tolist(), workers.tolist()) if job.persistent else items.tolist())
    if job.mode == "masks":
        masks.append(payload)
        job.leak(bytes_of([payload]))
    elif job.mode != "kept" and len(met) == complete:
        job.growth_ends(step)
    del payload
