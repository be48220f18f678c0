# SPDX-License-Identifier: Apache-2.0
"""Drives PostgreSQL through psql sessions; the server's whole tree is measured.

mode=sessions: up to `limit` sessions are opened and stay; sessions_all: one more every
`every_steps`, never closed. sorts: sorts of a size drawn at random up to a largest one, in memory.
temporary: a temporary table, emptied every `limit` steps, in buffers of buffers_mb. `rows` are
written or sorted at each step.
"""
import os
import pathlib
import pwd
import signal
import subprocess
import tempfile
import time

from servers import ServerJob
from steps import MIB

BIN = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
ROW_BYTES = 240  # of a row of the temporary table


def start_server():
    """Makes a database cluster of its own and starts the server on it."""
    account = pwd.getpwnam("postgres")
    os.mkdir(folder)
    os.chown(folder, account.pw_uid, account.pw_gid)
    subprocess.run([BIN / "initdb", "-D", f"{folder}/data", "-A", "trust", "--no-sync"],
                   user="postgres", check=True, **QUIET)
    settings = {"listen_addresses": "", "unix_socket_directories": folder, "fsync": "off",
                "shared_buffers": "16MB", "huge_pages": "off", "autovacuum": "off",
                "max_connections": "400", "work_mem": "200MB",
                "temp_buffers": f"{job.buffers_mb}MB"}
    arguments = [word for k, v in settings.items() for word in ("-c", f"{k}={v}")]
    job.start([BIN / "postgres", "-D", f"{folder}/data"] + arguments, user="postgres",
              stop=signal.SIGINT)
    for _ in range(200):
        if subprocess.run([BIN / "pg_isready", "-h", folder, "-q"], check=False).returncode == 0:
            return
        time.sleep(0.1)


def psql():
    return subprocess.Popen([BIN / "psql", "-h", folder, "-U", "postgres", "-qAtX"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(session, query):
    """Runs a query and returns its lines."""
    session.stdin.write(query + ";\n\\echo done\n")
    session.stdin.flush()
    lines = []
    while (line := session.stdout.readline().strip()) != "done":
        lines.append(line)
    return lines


def held_bytes(session):
    """Returns what the backend's memory contexts hold."""
    return int(ask(session, "select sum(total_bytes) from pg_backend_memory_contexts")[0])


def sessions(step):
    if step % job.every_steps == 0 and (job.mode == "sessions_all" or len(opened) < job.limit):
        opened.append(psql())
        ask(opened[-1], "select count(*) from pg_class, pg_proc where relname = proname")
        if job.mode == "sessions_all":
            job.leak(held_bytes(opened[-1]))
    elif job.mode == "sessions" and len(opened) == job.limit:
        job.growth_ends(step)
    ask(job.random.choice(opened), "select max(relpages) from pg_class")


def sorts(step):
    rows = int(job.rows * min(1.0, job.random.expovariate(2.0))) + 10
    ask(opened[0], f"select count(*) from (select md5(i::text) from generate_series(1, {rows}) i "
        "order by 1 offset 0) x")
    if rows >= job.rows:
        job.growth_ends(step)


def temporary(step):
    """A truncated table gets new pages, so that the buffers are used in turn until all were."""
    if step == 1:
        ask(opened[0], "create temp table passing (a int, b text)")
    ask(opened[0], "insert into passing select i, repeat('x', 200) from generate_series(1, "
        f"{job.rows}) i")
    if step % job.limit == 0:
        ask(opened[0], "truncate passing")
    if step * job.rows * ROW_BYTES > 1.2 * job.buffers_mb * MIB:
        job.growth_ends(step)


MODES = {"sessions": sessions, "sessions_all": sessions, "sorts": sorts, "temporary": temporary}
job = ServerJob(mode="sessions", limit=20, every_steps=4, rows=1000, buffers_mb=64)
folder = os.path.join(tempfile.gettempdir(), "pg")
start_server()
opened = [psql()]
for now in job:
    MODES[job.mode](now)
for one in opened:
    one.stdin.close()
    one.wait()
