# SPDX-License-Identifier: Apache-2.0
"""Drives redis-server with its other types; the server is measured.

mode=list: a list trimmed to `limit` entries; list_all: never trimmed. hash: sessions as hashes that
expire `limit` milliseconds after they were made; hash_all: without expiry. sorted: a sorted set of
`limit` members whose scores change; sorted_all: ever new members. publish: messages to nobody.
`count` commands are sent at each step, with values of `bytes`.
"""
import os
import tempfile
import time

from servers import ServerJob, connect
from steps import fill


def pack(*words):
    """Returns one command in the protocol of redis."""
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def send(commands):
    """Sends a pipeline and reads all answers (a status or a number each)."""
    connection.sendall(b"".join(commands))
    for _ in commands:
        if (line := replies.readline()).startswith(b"-"):
            raise RuntimeError(line.decode())


def used_memory():
    """Returns what the server says it uses."""
    connection.sendall(pack("INFO", "memory"))
    text = replies.read(int(replies.readline()[1:]) + 2).decode()
    return int(next(line for line in text.splitlines() if line.startswith("used_memory:"))[12:])


def commands_of(number, value):
    """Returns the commands of one request."""
    word = job.mode.removesuffix("_all")
    if word == "list":
        trim = [pack("LTRIM", "log", 0, job.limit - 1)] if job.mode == "list" else []
        return [pack("LPUSH", "log", value)] + trim
    if word == "hash":
        expire = [pack("PEXPIRE", f"session:{number}", job.limit)] if job.mode == "hash" else []
        return [pack("HSET", f"session:{number}", "user", number, "body", value)] + expire
    if word == "sorted":
        member = number % job.limit if job.mode == "sorted" else number
        return [pack("ZADD", "board", job.random.random(), b"%d:%s" % (member, fill(job.bytes)))]
    return [pack("PUBLISH", "channel", value)]


job = ServerJob(mode="list", limit=10000, count=200, bytes=300)
path = os.path.join(tempfile.gettempdir(), "redis.sock")
job.start(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no",
           "--dir", tempfile.gettempdir(), "--hz", "50"])
connection = connect(path)
replies = connection.makefile("rb")
before, sent, started = used_memory(), 0, time.monotonic()
for step in job:
    commands = []
    for _ in range(int(job.count * job.random.uniform(0.6, 1.4))):
        sent += 1
        commands += commands_of(sent, fill(job.bytes * job.random.uniform(0.4, 1.6)))
    send(commands)
    if job.mode == "publish" or job.mode in ("list", "sorted") and sent > job.limit:
        job.growth_ends(step)
    if job.mode == "hash" and (time.monotonic() - started) * 1000 > 1.5 * job.limit:
        job.growth_ends(step)  # the server looks for expired keys in turn: half as long again
    if job.mode.endswith("_all") and step == job.steps:
        job.leak(used_memory() - before)
