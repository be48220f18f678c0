# SPDX-License-Identifier: Apache-2.0
"""Files and mappings: pages of files, of shared memory, of databases.

mode=read: a mapped file of `limit` parts is read part by part; private: and written to, which makes
copies; shards: one more mapping with copies at each step, never unmapped. sparse: parts of a large
mapping are touched at random, until all were; further: ever new parts of it. memfd: the last
`limit` segments in memory stay mapped; memfd_kept: all. opened: the `limit` last files stay open,
with a buffer each; descriptors: all. pages: SQLite reads a file through a page cache of `limit`
parts; connections: one more connection with a cache of its own every `interval` steps, never
closed. At each step `count` parts of part_kb are used.
"""
import collections
import math
import mmap
import os
import resource
import sqlite3
import tempfile

from steps import Job, fill

PAGE = 4096
MAP_NORESERVE = 0x4000
HEAD_ROOM = 64  # of a mapping that is used further and further, beyond what the run needs


def part_of(job):
    """Returns the size of a part in bytes, whole pages."""
    return max(1, math.ceil(job.part_kb * 1024 / PAGE)) * PAGE


def path_of(name):
    return os.path.join(tempfile.gettempdir(), name)


def touch(pages, start, size):
    """Writes one byte to each page of a range."""
    for place in range(start, start + size, PAGE):
        pages[place] = 0x5a


def read(job):
    part = part_of(job)
    with open(path_of("data"), "wb") as file:
        for _ in range(job.limit):
            file.write(fill(part))
    with open(path_of("data"), "rb") as file:
        access = mmap.ACCESS_READ if job.mode == "read" else mmap.ACCESS_COPY
        data, next_part = mmap.mmap(file.fileno(), 0, access=access), 0
    for step in job:
        for _ in range(job.count):
            if next_part == job.limit:
                job.growth_ends(step)
                break
            if job.mode == "private":
                touch(data, next_part * part, part)
            else:
                sum(data[next_part * part:(next_part + 1) * part:PAGE])
            next_part += 1


def shards(job):
    part, kept = part_of(job), []
    with open(path_of("shard"), "wb") as file:
        file.write(fill(part))
    for _ in job:
        for _ in range(job.count):
            with open(path_of("shard"), "rb") as file:
                kept.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
            touch(kept[-1], 0, part)
            job.leak(part)


def sparse(job):
    part = part_of(job)
    parts = job.limit if job.mode == "sparse" else job.steps * job.count * HEAD_ROOM
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    table, touched, next_part = mmap.mmap(-1, parts * part, flags=flags), set(), 0
    for step in job:
        for _ in range(job.count):
            if job.mode == "further":
                touch(table, next_part * part, part)
                next_part += 1 + job.random.randrange(8)
                job.leak(part)
            else:
                place = job.random.randrange(parts)
                touch(table, place * part, part)
                touched.add(place)
        if len(touched) == parts:
            job.growth_ends(step)


def memfd(job):
    part, segments = part_of(job), collections.deque()
    for step in job:
        for _ in range(job.count):
            descriptor = os.memfd_create("segment")
            os.ftruncate(descriptor, part)
            segments.append(mmap.mmap(descriptor, part))
            os.close(descriptor)
            touch(segments[-1], 0, part)
            if job.mode == "memfd_kept":
                job.leak(part)
            elif len(segments) > job.limit:
                segments.popleft().close()
                job.growth_ends(step)


def descriptors(job):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    part, files = part_of(job), collections.deque()
    for step in job:
        for _ in range(job.count):
            files.append(open(path_of("log"), "wb", buffering=part))
            files[-1].write(fill(part - 1))
            if job.mode == "descriptors":
                job.leak(part)
            elif len(files) > job.limit:
                files.popleft().close()
                job.growth_ends(step)


def connect(cache_kb):
    connection = sqlite3.connect(path_of("base"))
    connection.execute(f"pragma cache_size=-{cache_kb}")
    return connection


def database(job):
    part = part_of(job)
    rows = job.limit * 2 if job.mode == "pages" else job.count * 4
    with connect(2000) as base:
        base.execute("create table sample (id integer primary key, body blob)")
        base.executemany("insert into sample values (?, ?)", ((i, fill(part)) for i in range(rows)))
    connections, read_rows = [connect(job.limit * part // 1024)], set()
    for step in job:
        if job.mode == "connections" and step % job.interval == 0:
            connections.append(connect(100_000))
            job.leak(part * job.count)
        for number in range(job.count):
            row = job.random.randrange(rows) if job.mode == "pages" else number
            list(connections[-1].execute("select body from sample where id = ?", (row,)))
            read_rows.add(row)
        if job.mode == "pages" and len(read_rows) >= job.limit:
            job.growth_ends(step)


MODES = {"read": read, "private": read, "shards": shards, "sparse": sparse, "further": sparse,
         "memfd": memfd, "memfd_kept": memfd, "opened": descriptors, "descriptors": descriptors,
         "pages": database, "connections": database}
this_job = Job(mode="read", limit=100, count=2, part_kb=64.0, interval=5)
MODES[this_job.mode](this_job)
