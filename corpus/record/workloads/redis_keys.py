# SPDX-License-Identifier: Apache-2.0
"""Drives redis-server. maxmemory_mb > 0: least recently used keys are evicted at the limit.
maxmemory_mb=0 and maxlen=0: new keys for ever, a leak by use. maxlen > 0: results go to a stream
that is trimmed to a number of entries.
"""
import os
import tempfile

from servers import ServerJob, connect
from steps import fill


def pack(*words):
    """Returns one command in the protocol of redis."""
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def info(section, key):
    """Returns one number of INFO."""
    connection.sendall(pack("INFO", section))
    size = int(replies.readline()[1:])
    text = replies.read(size + 2).decode()
    return int(next(line for line in text.splitlines() if line.startswith(key + ":")).split(":")[1])


def send(commands):
    """Sends a pipeline and reads all answers (status, number or bulk)."""
    connection.sendall(b"".join(commands))
    for _ in commands:
        line = replies.readline()
        if line.startswith(b"-"):
            raise RuntimeError(line.decode())
        if line.startswith(b"$") and not line.startswith(b"$-"):
            replies.read(int(line[1:]) + 2)


job = ServerJob(maxmemory_mb=0, maxlen=0, sets=200, value=1000)
path = os.path.join(tempfile.gettempdir(), "redis.sock")
job.start(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no",
           "--dir", tempfile.gettempdir(), "--maxmemory", f"{job.maxmemory_mb}mb",
           "--maxmemory-policy", "allkeys-lru", "--stream-node-max-bytes", "4096"])
connection = connect(path)
replies = connection.makefile("rb")
before = info("memory", "used_memory")
bounded = job.maxmemory_mb or job.maxlen
sent = 0
for step in job:
    commands = []
    for i in range(int(job.sets * job.random.uniform(0.6, 1.4))):
        sent += 1
        value = fill(job.value * job.random.uniform(0.3, 1.7))
        if job.maxlen:
            commands.append(pack("XADD", "results", "MAXLEN", "~", job.maxlen, "*", "body", value))
        else:
            commands.append(pack("SET", f"result:{step}:{i}", value))
        if i % 4 == 0:
            commands.append(pack("GET", f"result:{job.random.randrange(step) + 1}:{i}"))
        if i % 10 == 0:  # short-lived: a queue of work in flight
            commands += [pack("SET", f"busy:{i}", fill(job.random.uniform(1, 60) * 1024)),
                         pack("DEL", f"busy:{(i + 50) % 200}")]
    send(commands)
    if job.maxmemory_mb and info("stats", "evicted_keys"):
        job.growth_ends(step)
    if job.maxlen and sent > job.maxlen + 1000:  # `~` trims whole nodes only: up to one node more
        job.growth_ends(step)
    if not bounded and step == job.steps:
        job.leak(info("memory", "used_memory") - before)
