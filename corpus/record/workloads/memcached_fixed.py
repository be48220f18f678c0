# SPDX-License-Identifier: Apache-2.0
"""Drives memcached with a fixed memory: it fills, then evicts. Unique keys, many sizes."""
import os
import tempfile

from servers import ServerJob, connect
from steps import fill

job = ServerJob(limit_mb=64, sets=200, value=1500)
path = os.path.join(tempfile.gettempdir(), "memcached.sock")
job.start(["memcached", "-s", path, "-m", str(job.limit_mb), "-u", "root", "-t", "2"])
connection = connect(path)
replies = connection.makefile("rb")


def statistic(name):
    """Returns one number of `stats`."""
    connection.sendall(b"stats\r\n")
    found = 0
    while not (line := replies.readline()).startswith(b"END"):
        _, key, value = line.split(maxsplit=2)
        if key == name:
            found = int(value)
    return found


for step in job:
    count = int(job.sets * job.random.uniform(0.6, 1.4))
    commands = []
    for i in range(count):
        value = fill(job.value * job.random.uniform(0.8, 1.2))
        commands.append(b"set k:%d:%d 0 0 %d\r\n%s\r\n" % (step, i, len(value), value))
    connection.sendall(b"".join(commands))
    for _ in range(count):
        replies.readline()
    if statistic(b"evictions"):
        job.growth_ends(step)
