# SPDX-License-Identifier: Apache-2.0
"""Drives PostgreSQL through psql sessions; the server's whole tree is measured.

mode=sessions: up to `limit` sessions are opened and stay; sessions_all: one more every
`every_steps`, never closed. sorts: sorts of a size drawn at random up to a largest one, in memory.
temporary: a temporary table, emptied every `limit` steps, in buffers of buffers_mb. `rows` are
written or sorted at each step.
"""
import signal

import postgres
from postgres import Session
from servers import ServerJob
from steps import MIB

ROW_BYTES = 240  # of a row of the temporary table


def sessions(step):
    if step % job.every_steps == 0 and (job.mode == "sessions_all" or len(opened) < job.limit):
        opened.append(Session())
        opened[-1].ask("select count(*) from pg_class, pg_proc where relname = proname")
        if job.mode == "sessions_all":
            job.leak(opened[-1].held_bytes())
    elif job.mode == "sessions" and len(opened) == job.limit:
        job.growth_ends(step)
    job.random.choice(opened).ask("select max(relpages) from pg_class")


def sorts(step):
    rows = int(job.rows * min(1.0, job.random.expovariate(2.0))) + 10
    opened[0].ask(f"select count(*) from (select md5(i::text) from generate_series(1, {rows}) i "
                  "order by 1 offset 0) x")
    if rows >= job.rows:
        job.growth_ends(step)


def temporary(step):
    """A truncated table gets new pages, so that the buffers are used in turn until all were."""
    if step == 1:
        opened[0].ask("create temp table passing (a int, b text)")
    opened[0].ask("insert into passing select i, repeat('x', 200) from generate_series(1, "
                  f"{job.rows}) i")
    if step % job.limit == 0:
        opened[0].ask("truncate passing")
    if step * job.rows * ROW_BYTES > 1.2 * job.buffers_mb * MIB:
        job.growth_ends(step)


MODES = {"sessions": sessions, "sessions_all": sessions, "sorts": sorts, "temporary": temporary}
job = ServerJob(mode="sessions", limit=20, every_steps=4, rows=1000, buffers_mb=64)
server = postgres.made_cluster(shared_buffers="16MB", max_connections="400", work_mem="200MB",
                               temp_buffers=f"{job.buffers_mb}MB")
job.start(server, user="postgres", stop=signal.SIGINT)
postgres.await_server()
opened = [Session()]
for now in job:
    MODES[job.mode](now)
for one in opened:
    one.close()
