# SPDX-License-Identifier: Apache-2.0
"""Failed batches whose exceptions are kept "for the report": each traceback holds its frames, and
each frame holds its locals, here the batch. Every failure therefore keeps a batch for ever.
"""
from steps import Job, fill

job = Job(failure=0.4, batch_kb=400.0)
failures = []


def decode(size):
    """Decodes a batch, or fails while holding it."""
    pixels = fill(size)
    if job.random.random() < job.failure:
        job.leak(len(pixels))
        raise ValueError("truncated image")
    return len(pixels)


for step in job:
    try:
        decode(job.batch_kb * 1024 * job.random.uniform(0.4, 1.6))
    except ValueError as error:
        failures.append(error)
