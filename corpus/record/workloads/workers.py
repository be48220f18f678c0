# SPDX-License-Identifier: Apache-2.0
"""A training process with forked data workers that answer over pipes.

mode=restart: the pool is started anew at each epoch; workers cache what they read, and end with the
epoch, so nothing outlives it. mode=multiply: every evaluation starts further persistent workers
that nobody closes. mode=one_leaks: four workers live for the whole run, one keeps all it decodes.
mode=lazy: workers are started one by one, when first needed, up to a fixed number.
"""
import multiprocessing
import pathlib
import random

from steps import MIB, Job, fill

FORK = multiprocessing.get_context("fork")


def serve(pipe, seed, start_mb, keep_kb, bounded):
    """Decodes on request; keeps keep_kb per request, for ever or (bounded) in one reused buffer."""
    rng = random.Random(seed)
    state = [fill(MIB) for _ in range(int(start_mb))]
    kept = []
    while pipe.recv():
        batch = fill(rng.uniform(0.1, 0.6) * MIB)
        if keep_kb:
            kept.append(fill(keep_kb * 1024 * rng.uniform(0.5, 1.5)))
            if bounded:
                kept = kept[-1:]
        pipe.send((len(batch) + len(state), len(kept[-1]) if kept else 0))


class Worker:
    """One worker process and our end of its pipe."""

    def __init__(self, job, keep_kb=0.0, bounded=False):
        self.pipe, theirs = FORK.Pipe()
        seed = job.random.randrange(10**6)
        arguments = (theirs, seed, job.start_mb, keep_kb, bounded)
        self.process = FORK.Process(target=serve, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    def ask(self):
        """Has one batch decoded and returns the bytes that the worker kept of it."""
        self.pipe.send(True)
        return self.pipe.recv()[1]

    def close(self):
        self.pipe.send(False)
        self.process.join()
        self.pipe.close()


def restart(job, workers, step):
    """Starts the pool at each epoch's first step and ends it at its last."""
    if (step - 1) % job.epoch_steps == 0:
        workers += [Worker(job, job.keep_kb) for _ in range(job.workers)]
    for worker in workers:
        worker.ask()
    if step % job.epoch_steps == 0:
        for worker in workers:
            worker.close()
        workers.clear()
        job.growth_ends(step)


def private_bytes(pid):
    """Returns what a process holds for itself alone: what its end would give back."""
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) * 1024


def multiply(job, workers, step):
    """Adds persistent workers at each evaluation. A fork also keeps its parent's old batches alive,
    so what the workers cost is read from the system at the end."""
    if not workers:
        workers += [Worker(job) for _ in range(job.workers)]
    if step % job.eval_every == 0:
        workers += [Worker(job) for _ in range(job.added)]
        job.event = "eval"
    for worker in workers[-job.workers:]:
        worker.ask()
    if step == job.steps:
        job.leak(sum(private_bytes(worker.process.pid) for worker in workers[job.workers:]))


def one_leaks(job, workers, step):
    """Keeps a pool of which one member, the third, keeps all it decodes."""
    if not workers:
        workers += [Worker(job, job.keep_kb, bounded=i != 2) for i in range(job.workers)]
    for i, worker in enumerate(workers):
        kept = worker.ask()
        if i == 2:
            job.leak(kept)


def lazy(job, workers, step):
    """Starts a worker every so many steps until the pool is complete."""
    if len(workers) < job.workers and (step - 1) % job.eval_every == 0:
        workers.append(Worker(job, job.keep_kb, bounded=True))
        if len(workers) == job.workers:
            job.growth_ends(step)
    for worker in workers:
        worker.ask()


MODES = {"restart": restart, "multiply": multiply, "one_leaks": one_leaks, "lazy": lazy}
job = Job(mode="restart", workers=3, start_mb=6, keep_kb=0.0, eval_every=25, added=2)
pool = []
for now in job:
    MODES[job.mode](job, pool, now)
