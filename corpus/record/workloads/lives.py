# SPDX-License-Identifier: Apache-2.0
"""Processes that come and go around a job, and a job that is itself started anew.

mode=epochs: data workers are forked anew at each epoch and end with it, as DataLoader's are by
default; a pause of some steps lies between. They keep what they read until they end.
mode=end: workers run from the start and end at `end_step`, some time before the job does.
mode=restart: a supervisor runs the job as a child, which dies every `life` steps and starts anew;
memory is the child's. Its cache of `cache_mb` fills anew in each life.
leak_kb is kept for ever at each step by the job itself (in mode=restart: until it dies, which is
not its doing), worker_leak_kb by each worker of mode=end.
"""
import multiprocessing
import random

from steps import MIB, Job, fill

FORK = multiprocessing.get_context("fork")


def serve(pipe, seed, start_mb, keep_kb, cache_mb):
    """Does one request at a time; keeps keep_kb of each, and a cache that is full at cache_mb."""
    rng = random.Random(seed)
    state = [fill(MIB) for _ in range(int(start_mb))]
    kept, cache, cached = [], [], 0
    while pipe.recv():
        batch = fill(rng.uniform(0.1, 0.6) * MIB)
        size = 0
        if keep_kb:
            kept.append(fill(keep_kb * 1024 * rng.uniform(0.5, 1.5)))
            size = len(kept[-1])
        if cached < cache_mb * MIB:
            cache.append(fill(min(cache_mb * MIB / 40, cache_mb * MIB - cached)))
            cached += len(cache[-1])
        pipe.send(size)
        del batch
    del state


class Worker:
    """One worker process and our end of its pipe."""

    def __init__(self, job, start_mb, keep_kb, cache_mb=0.0):
        self.pipe, theirs = FORK.Pipe()
        arguments = (theirs, job.random.randrange(10**6), start_mb, keep_kb, cache_mb)
        self.process = FORK.Process(target=serve, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    def ask(self):
        """Has one request done and returns the bytes that were kept of it."""
        self.pipe.send(True)
        return self.pipe.recv()

    def close(self, kill=False):
        if kill:
            self.process.kill()
        else:
            self.pipe.send(False)
        self.process.join()
        self.pipe.close()


def keep(job, kept):
    """The job's own leak."""
    if job.leak_kb:
        kept.append(fill(job.leak_kb * 1024 * job.random.uniform(0.5, 1.5)))
        job.leak(len(kept[-1]))


def close_all(workers, kill=False):
    for worker in workers:
        worker.close(kill)
    workers.clear()


def epochs(job, workers, kept, step):
    """A pool per epoch, closed `pause` steps before its end."""
    place = (step - 1) % job.epoch_steps
    if place == 0:
        workers += [Worker(job, job.start_mb, job.keep_kb) for _ in range(job.workers)]
    for worker in workers:
        worker.ask()
    keep(job, kept)
    if place == job.epoch_steps - 1 - job.pause:
        close_all(workers)
        if not job.leak_kb:
            job.growth_ends(step)


def end(job, workers, kept, step):
    """A pool that ends before the job does."""
    if step == 1:
        workers += [Worker(job, job.start_mb, job.worker_leak_kb, job.cache_mb)
                    for _ in range(job.workers)]
    for worker in workers:
        job.leak(worker.ask())
    keep(job, kept)
    if step == job.end_step:
        close_all(workers)
    if not job.leak_kb and not job.worker_leak_kb and step > 40:
        job.growth_ends(step)


def restart(job, workers, kept, step):
    """The job itself, killed every `life` steps."""
    if not workers:
        workers.append(Worker(job, job.start_mb, job.leak_kb, job.cache_mb))
    size = workers[0].ask()
    job.leak(size)
    if step % job.life == 0 and step < job.steps:
        close_all(workers, kill=True)
    if not job.leak_kb and step > 40:
        job.growth_ends(step)


MODES = {"epochs": epochs, "end": end, "restart": restart}
job = Job(mode="epochs", workers=3, start_mb=6.0, keep_kb=0.0, leak_kb=0.0, worker_leak_kb=0.0,
          cache_mb=0.0, pause=2, end_step=0, life=100)
pool, kept_for_ever = [], []
for now in job:
    MODES[job.mode](job, pool, kept_for_ever, now)
