# SPDX-License-Identifier: Apache-2.0
"""Each log call stores a copy of the whole history so far: the leak accelerates (quadratic)."""
from steps import Job

job = Job(per_step=300, log_every=1)
history, snapshots = [], []
for step in job:
    history.extend([step * 0.5] * int(job.per_step * job.random.uniform(0.7, 1.3)))
    if step % job.log_every == 0:
        snapshots.append(list(history))
        job.leak(8 * len(history))
