# SPDX-License-Identifier: Apache-2.0
"""JAX: programs compiled for each shape of the batch, and arrays that are kept.

mode=buckets: batches are padded to one of a fixed number of lengths; jit compiles each once, when
it first comes. It ends when all have come.
mode=endless (leak): batches are not padded, and a dictionary keeps the program of every length ever
seen. (jit's own cache would evict after some thousand.)
mode=recent: the gradients of the last `keep` steps are kept.
mode=arrays (leak): those of every few steps are appended to a list.
"""
import collections

from stack_steps import StackJob
import jax
import jax.numpy as jnp

LAYER_BYTES = 600_000  # what a compiled program takes for each layer: about, as measured

job = StackJob(mode="buckets", width=64, layers=3, lengths=20, keep=40, every_steps=3)
keys = iter(jax.random.split(jax.random.PRNGKey(job.seed), job.steps + job.layers + 1))
weights = [jax.random.normal(next(keys), (job.width, job.width)) * 0.1 for _ in range(job.layers)]


def loss(weights, inputs):
    for weight in weights:
        inputs = jnp.tanh(inputs @ weight)
    return (inputs ** 2).mean()


@jax.jit
def update(weights, inputs):
    value, gradients = jax.value_and_grad(loss)(weights, inputs)
    return [w - 0.01 * g for w, g in zip(weights, gradients)], gradients, value


def buckets():
    global weights
    seen = set()
    for step in job:
        # Short lengths are common and long ones rare, so that the set fills ever more slowly.
        length = 8 * (1 + int(job.lengths * job.random.random() ** 1.6))
        weights, _, _ = update(weights, jnp.ones((length, job.width)))
        seen.add(length)
        if len(seen) == job.lengths:
            job.growth_ends(step)


def endless():
    global weights
    programs, length = {}, 16
    for step in job:
        if step % job.every_steps == 0:
            length += 1
        inputs = jnp.ones((length, job.width))
        if length not in programs:
            programs[length] = update.lower(weights, inputs).compile()
            job.leak(LAYER_BYTES * job.layers)
        weights, _, _ = programs[length](weights, inputs)


def arrays():
    global weights
    kept = collections.deque(maxlen=job.keep) if job.mode == "recent" else []
    for step in job:
        inputs = jax.random.normal(next(keys), (32, job.width))
        weights, gradients, _ = update(weights, inputs)
        if job.mode == "recent":
            kept.append(gradients)
            if len(kept) == job.keep:
                job.growth_ends(step)
        elif step % job.every_steps == 0:
            kept.append(gradients)
            job.leak(sum(g.nbytes for g in gradients))
        jax.block_until_ready(weights)


{"buckets": buckets, "endless": endless, "recent": arrays, "arrays": arrays}[job.mode]()
