#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/gpu-memory.log, the one trace of these pages that no machine recorded: it takes a GPU.

    docs/pictures/draw_gpu_memory.py >docs/pictures/gpu-memory.log

A training job whose batches are padded to their longest example, on an allocator that keeps what the
device gave it. Its rules are those that PyTorch documents: requests in steps of 512 bytes, up to 1 MB out
of segments of 2 MB, below 10 MB out of segments of 20 MB, larger ones in steps of 2 MB; the smallest free
piece that fits serves a request, is cut if more than 1 MB of it is left, and grows together with free
neighbours afterwards. What is in use returns to its level after each step; what is reserved grows whenever
a longer batch finds no piece that is long enough.
"""

import random

MB = 1 << 20
LAYERS, WIDTH, WEIGHTS, STEPS = 12, 1024, 1600 * MB, 240


def rounded(size, unit):
    return -(-size // unit) * unit


class Pool:
    def __init__(self):
        self.segments, self.reserved, self.used = [], 0, 0

    def take(self, size):
        size = rounded(size, 512)
        self.used += size
        pieces = [(piece[0], n, k) for n, segment in enumerate(self.segments)
                  for k, piece in enumerate(segment) if piece[1] and piece[0] >= size]
        if pieces:
            length, n, k = min(pieces)
        else:
            length = 2 * MB if size <= MB else 20 * MB if size < 10 * MB else rounded(size, 2 * MB)
            self.reserved += length
            self.segments.append([[length, True]])
            n, k = len(self.segments) - 1, 0
        segment = self.segments[n]
        taken = [size if length - size > MB else length, False]
        segment[k : k + 1] = [taken] if taken[0] == length else [taken, [length - size, True]]
        return segment, taken, size

    def give(self, segment, taken, size):
        self.used -= size
        taken[1] = True
        k = next(k for k, piece in enumerate(segment) if piece is taken)
        for left in (k, k - 1):
            if left >= 0 and left + 1 < len(segment) and segment[left][1] and segment[left + 1][1]:
                segment[left : left + 2] = [[segment[left][0] + segment[left + 1][0], True]]


def main():
    draw = random.Random(4)
    pool = Pool()
    pool.take(WEIGHTS)
    for step in range(1, STEPS + 1):
        tokens = 8 * max(int(draw.lognormvariate(5.6, 0.5)) for _ in range(8))
        held = [pool.take(4 * tokens * WIDTH * factor) for _ in range(LAYERS) for factor in (1, 4)]
        for piece in held:
            pool.give(*piece)
        print(f"step {step} cuda_allocated: {pool.used / MB:.1f} MB cuda_reserved: {pool.reserved / MB:.1f} MB")


if __name__ == "__main__":
    main()
