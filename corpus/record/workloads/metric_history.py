# SPDX-License-Identifier: Apache-2.0
"""Per-step outputs kept for the epoch's mean. release=1: dropped at each epoch end, so memory ramps
up in every epoch and returns to the floor. release=0: the list is never emptied.
"""
import array

from steps import Job

job = Job(release=1, floats=40000)
history = []
for step in job:
    if job.release and (step - 1) % job.epoch_steps == 0:
        history.clear()
        if step > 1:
            job.growth_ends(step)
    count = int(job.floats * job.random.uniform(0.7, 1.3))
    logits = array.array("d", [0.5]) * count
    history.append({"step": step, "loss": job.random.random(), "logits": logits})
    if not job.release:
        job.leak(count * 8)
