# SPDX-License-Identifier: Apache-2.0
"""Processes that keep something, and what ends them.

mode=tasks: a pool whose workers keep something of each task and are replaced after `life` tasks;
tasks_all: they live as long as the job. snapshot: every `life` steps a forked child holds the state
of that moment for some steps, while the job goes on writing to its own, which makes copies until
the child ends; snapshot_leak: and the job keeps something at each step. limit: a child that keeps
something at each step is killed as soon as it exceeds a limit, and started again. exec: a helper
program is started every `life` steps, at most `workers` at a time; exec_all: the helpers are never
ended. keep_kb is what is kept of a task or at a step.
"""
import multiprocessing
import os
import subprocess
import sys

from steps import MIB, Job, fill

FORK = multiprocessing.get_context("fork")
kept_here = []  # in each worker
HELPER = ("import sys; held = b'z' * int(sys.argv[1]); print(len(held), flush=True); "
          "sys.stdin.read()")


def work(pipe):
    """Runs in a worker: keeps something of each task, and says how much."""
    while size := pipe.recv():
        batch = fill(MIB / 3)
        kept_here.append(fill(size))
        pipe.send(len(batch) and size)


class Worker:
    """One worker process, our end of its pipe, and the tasks it may still do."""

    def __init__(self, tasks_left):
        self.pipe, theirs = FORK.Pipe()
        self.process = FORK.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.tasks_left = tasks_left

    def do(self, size):
        self.tasks_left -= 1
        self.pipe.send(int(size))
        return self.pipe.recv()

    def end(self):
        self.pipe.send(0)
        self.process.join()
        self.pipe.close()


def tasks(job):
    """The first workers get lives of different length, so that not all are replaced at once."""
    life = job.life if job.mode == "tasks" else job.steps + 1
    workers = [Worker(life - life * i // job.workers // 2) for i in range(job.workers)]
    for step in job:
        for place, worker in enumerate(workers):
            if worker.tasks_left == 0:
                worker.end()
                worker = workers[place] = Worker(life)
            kept = worker.do(job.keep_kb * 1024 * job.random.uniform(0.5, 1.5))
            if job.mode == "tasks_all":
                job.leak(kept)
        if job.mode == "tasks" and step > job.life:
            job.growth_ends(step)


def snapshot(job):
    state = [bytearray(fill(MIB / 4)) for _ in range(job.state_mb * 4)]
    child, until = 0, 0
    for step in job:
        if step % job.life == 0:
            child, until = os.fork(), step + job.lasts
            if child == 0:
                os.read(job_pipe[0], 1)
                os._exit(0)
        for _ in range(job.writes):
            block = job.random.choice(state)
            for place in range(0, len(block), 4096):
                block[place] = step % 256
        if child and step >= until:
            os.write(job_pipe[1], b"x")
            os.waitpid(child, 0)
            child = 0
            if job.mode == "snapshot":
                job.growth_ends(step)
        if job.mode == "snapshot_leak":
            job.keep_for_ever(job.keep_kb * 1024 * job.random.uniform(0.5, 1.5))


def limit(job):
    """The child's size is counted by what it was told to keep, so it dies at the limit exactly."""
    child, size = None, 0
    for step in job:
        if child is None:
            child, size = Worker(job.steps), 0
        kept = child.do(job.keep_kb * 1024 * job.random.uniform(0.5, 1.5))
        job.leak(kept)
        size += kept
        if size > job.state_mb * MIB and step < job.steps:
            child.process.kill()
            child.process.join()
            child = None


def helpers(job):
    running = []
    for step in job:
        if step % job.life:
            continue
        if len(running) < job.workers or job.mode == "exec_all":
            size = int(job.keep_kb * 1024 * job.random.uniform(0.5, 1.5))
            running.append(subprocess.Popen([sys.executable, "-S", "-c", HELPER, str(size)],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            running[-1].stdout.readline()
            if job.mode == "exec_all":
                job.leak(size)
        else:
            running.append(running.pop(0))
            job.growth_ends(step)


MODES = {"tasks": tasks, "tasks_all": tasks, "snapshot": snapshot, "snapshot_leak": snapshot,
         "limit": limit, "exec": helpers, "exec_all": helpers}
job_pipe = os.pipe()
this_job = Job(mode="tasks", workers=3, life=50, keep_kb=100.0, state_mb=40, lasts=5, writes=20)
MODES[this_job.mode](this_job)
