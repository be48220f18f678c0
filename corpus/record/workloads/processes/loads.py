# SPDX-License-Identifier: Apache-2.0
"""A server in small, whose memory follows its load.

mode=ramp: the load rises to its height until step `life` and stays there; spikes: it jumps at
random, for some steps, up to its height; days: waves of two periods and noise; steps: it changes at
random between some heights. queue: a bounded queue that fills because the consumer is slower, and
then blocks the producer. clients: clients come and go, each with a buffer, at most `life` at once.
The leaks have _leak at the end of the mode: something of each request is never released, so the
leak follows the load. clients_leak: some clients vanish without closing. `height` requests are in
flight at full load, each with request_kb; leak_kb is kept of all requests of a step at full load.
"""
import collections
import math

from steps import Job, fill


def keep_of(job, share):
    job.keep_for_ever(job.leak_kb * 1024 * share * job.random.uniform(0.5, 1.5) + 16)


def ramp(job, step):
    return min(1.0, step / job.life)


def spikes(job, step):
    if step > job.spike_until and job.random.random() < 0.05:
        job.spike_until, job.spike = step + job.random.randrange(1, 12), job.random.random()
        if job.random.random() < 0.3:
            job.spike = 1.0
    return job.spike if step <= job.spike_until else 0.15


def days(job, step):
    day = 0.5 - 0.5 * math.cos(2 * math.pi * step / job.life)
    week = 0.75 + 0.25 * math.cos(2 * math.pi * step / (job.life * 5.3))
    return 0.1 + 0.9 * day * week


def steps(job, step):
    if step % job.life == 1:
        job.spike = job.random.choice([0.2, 0.4, 0.6, 0.8, 1.0])
    return job.spike


def follow_load(job, load_of, leaks):
    flight, job.spike, job.spike_until = [], 0.2, 0
    for step in job:
        share = load_of(job, step)
        all_seen = step >= job.life if load_of is days else share >= 0.999
        if all_seen and not leaks:
            job.growth_ends(step)
        share = min(1.0, share * (1 + job.jitter * job.random.gauss(0, 1)))
        target = max(0, round(share * job.height))
        while len(flight) < target:
            flight.append(fill(job.request_kb * 1024))
        del flight[:len(flight) - target]
        if leaks:
            keep_of(job, max(0.0, share))


def queue(job, leaks):
    """The producer brings three parts at each step, the consumer takes two."""
    waiting = collections.deque()
    for step in job:
        for _ in range(3):
            if len(waiting) >= job.life:
                if not leaks:
                    job.growth_ends(step)
                break
            waiting.append(fill(job.request_kb * 1024 * job.random.uniform(0.5, 1.5)))
        for _ in range(min(2, len(waiting))):
            waiting.popleft()
        if leaks:
            keep_of(job, 1.0)


def clients(job, leaks):
    open_clients = []
    for step in job:
        for _ in range(job.height):
            if len(open_clients) < job.life:
                open_clients.append(fill(job.request_kb * 1024 * job.random.uniform(0.5, 1.5)))
            elif not leaks:
                job.growth_ends(step)
        if job.random.random() < 0.5 and open_clients:
            open_clients.pop(job.random.randrange(len(open_clients)))
        if leaks:
            keep_of(job, 1.0)


LOADS = {"ramp": ramp, "spikes": spikes, "days": days, "steps": steps}
this_job = Job(mode="ramp", life=100, height=100, request_kb=100.0, leak_kb=0.0, jitter=0.05)
word, leaking = this_job.mode.removesuffix("_leak"), this_job.mode.endswith("_leak")
if word in LOADS:
    follow_load(this_job, LOADS[word], leaking)
else:
    {"queue": queue, "clients": clients}[word](this_job, leaking)
