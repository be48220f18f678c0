# SPDX-License-Identifier: Apache-2.0
"""Drives PostgreSQL through one psql session.

mode=buffers: random rows of a table larger than shared_buffers are read, so that the buffers fill
and are then reused: shared memory of the server's tree, bounded by its setting.
mode=prepare: each step prepares statements that nobody deallocates: the backend keeps the plans.
"""
import signal
import subprocess

import postgres
from postgres import Session
from servers import ServerJob

job = ServerJob(mode="buffers", buffers_mb=64, rows=40000, queries=60, statements=10)
server = postgres.made_cluster(shared_buffers=f"{job.buffers_mb}MB", max_wal_size="4GB")


def make_table():
    """Fills the table under a first server, so that the measured one starts with empty buffers."""
    first = subprocess.Popen(server, user="postgres", **postgres.QUIET)
    postgres.await_server()
    maker = Session()
    maker.ask("create table sample (id int primary key, body text)")
    maker.ask("alter table sample alter body set storage plain")
    maker.ask("insert into sample select i, repeat(md5(i::text), 100) "
              f"from generate_series(1, {job.rows}) i")
    maker.ask("vacuum sample")
    maker.close()
    first.send_signal(signal.SIGINT)
    first.wait()


def free_buffers():
    """Returns how many of the shared buffers have never been used."""
    return int(session.ask("select count(*) from pg_buffercache where relfilenode is null")[0])


make_table()
job.start(server, user="postgres", stop=signal.SIGINT)
postgres.await_server()
session = Session()
session.ask("create extension if not exists pg_buffercache")
before = session.held_bytes()
for step in job:
    for _ in range(int(job.queries * job.random.uniform(0.5, 1.5))):
        row = job.random.randrange(job.rows) + 1
        session.ask(f"select length(body) from sample where id = {row}")
    if job.mode == "prepare":
        for i in range(int(job.statements * job.random.uniform(0.5, 1.5))):
            name = f"p{step}_{i}"
            session.ask(f"prepare {name} as select a.id, b.body from sample a join sample b "
                        f"on a.id = b.id + {i} where a.id between {step} and {step + i} "
                        f"and b.body like '{step}%' order by b.body")
            session.ask(f"execute {name}")
    elif step % 5 == 0 and free_buffers() == 0:
        job.growth_ends(step)
    if job.mode == "prepare" and step == job.steps:
        job.leak(session.held_bytes() - before)
session.close()
