# SPDX-License-Identifier: Apache-2.0
"""Shared-memory segments for batches. pool > 0: segments are made until the pool is full and then
reused in turn. pool=0: each is made, filled, and neither unmapped nor unlinked.
A receiver process maps the same segments, as a data loader's consumer does.
"""
import multiprocessing
from multiprocessing import resource_tracker, shared_memory

from steps import Job, fill


def receive(pipe):
    """Maps each named segment once and reads it whenever asked."""
    mapped = {}
    while name := pipe.recv():
        segment = mapped.setdefault(name, None) or shared_memory.SharedMemory(name=name)
        mapped[name] = segment
        pipe.send(sum(segment.buf[::4096]))


job = Job(pool=40, segment_kb=1024.0, every_steps=2)
resource_tracker.ensure_running()  # before the fork, so that both processes report to the same one
ours, theirs = multiprocessing.Pipe()
receiver = multiprocessing.get_context("fork").Process(target=receive, args=(theirs,), daemon=True)
receiver.start()
segments, made = [], 0
for step in job:
    if step % job.every_steps:
        continue
    size = int(job.segment_kb * 1024)
    if not job.pool or len(segments) < job.pool:
        segments.append(shared_memory.SharedMemory(create=True, size=size))
        if not job.pool:
            job.leak(size)
    else:
        job.growth_ends(step)
    segment = segments[made % len(segments) if job.pool else -1]
    made += 1
    segment.buf[:size] = fill(size)
    ours.send(segment.name)
    ours.recv()
ours.send("")
receiver.join()
for segment in segments:  # the trace is over: leave nothing behind in /dev/shm
    segment.close()
    segment.unlink()
