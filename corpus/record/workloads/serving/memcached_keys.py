# SPDX-License-Identifier: Apache-2.0
"""Drives memcached with `keys` keys drawn at random, all of which fit: it grows until each was set.

Items of one key have one size, so that each has its slab class once and for all.
"""
import os
import random
import tempfile

from servers import ServerJob, connect
from steps import fill

job = ServerJob(keys=2000, count=100, bytes=2000)
path = os.path.join(tempfile.gettempdir(), "memcached.sock")
job.start(["memcached", "-s", path, "-m", "1000", "-u", "root", "-t", "2"])
connection = connect(path)
replies = connection.makefile("rb")
seen = set()
for step in job:
    numbers = [job.random.randrange(job.keys) for _ in range(job.count)]
    for number in numbers:
        size = int(job.bytes * random.Random(number).uniform(0.5, 1.5))
        connection.sendall(b"set k%d 0 0 %d\r\n%s\r\n" % (number, size, fill(size)))
    for _ in numbers:
        replies.readline()
    seen.update(numbers)
    if len(seen) == job.keys:
        job.growth_ends(step)
