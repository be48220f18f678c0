# SPDX-License-Identifier: Apache-2.0
"""functools.lru_cache without a size, on a function whose keys are never the same twice."""
import functools
import sys

from steps import Job

job = Job(calls=20, words=300)


@functools.lru_cache(maxsize=None)
def tokenise(text):
    """Returns one integer per word."""
    return [hash(word) for word in text.split()]


for step in job:
    for call in range(int(job.calls * job.random.uniform(0.5, 1.5))):
        text = f"sample {step} {call} " + " ".join(
            str(job.random.randrange(10**6)) for _ in range(job.words))
        tokens = tokenise(text)
        job.leak(sys.getsizeof(text) + sys.getsizeof(tokens) + 32 * len(tokens))
