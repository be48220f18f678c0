# SPDX-License-Identifier: Apache-2.0
"""A per-example cache that fills in the first epoch, alone or followed by something.

then=nothing: growth ends with the first epoch. then=checkpoint: the first checkpoint allocates a
staging buffer that is kept and reused: a second, last jump. then=leak: after the first epoch each
step keeps a little more for ever (a diagnostics list that nobody empties).
"""
from steps import MIB, Job, fill

job = Job(item_kb=100.0, then="nothing", checkpoint_every=100, staging_mb=40.0, leak_kb=200.0,
          onset_step=0)
cache, staging, diagnostics = {}, None, []
for step in job:
    for item in job.items(step):
        if item not in cache:
            cache[item] = fill(job.item_kb * 1024 * job.random.uniform(0.7, 1.3))
    if job.then == "nothing" and len(cache) == job.examples:
        job.growth_ends(step)
    if job.then == "checkpoint" and step % job.checkpoint_every == 0:
        if staging is None:
            staging = [fill(MIB) for _ in range(int(job.staging_mb))]
        job.hold(fill(job.random.uniform(1, 4) * MIB), "checkpoint")
    if job.then == "checkpoint" and staging and len(cache) == job.examples:
        job.growth_ends(step)
    if job.then == "leak" and step > job.onset_step:
        diagnostics.append(fill(job.leak_kb * 1024 * job.random.uniform(0.5, 1.5)))
        job.leak(len(diagnostics[-1]))
