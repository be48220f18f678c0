# SPDX-License-Identifier: Apache-2.0
"""Drives PostgreSQL through one psql session.

mode=buffers: random rows of a table larger than shared_buffers are read, so that the buffers fill
and are then reused: shared memory of the server's tree, bounded by its setting.
mode=prepare: each step prepares statements that nobody deallocates: the backend keeps the plans.
"""
import os
import pathlib
import pwd
import signal
import subprocess
import tempfile
import time

from servers import ServerJob

BIN = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
job = ServerJob(mode="buffers", buffers_mb=64, rows=40000, queries=60, statements=10)
folder = os.path.join(tempfile.gettempdir(), "pg")
account = pwd.getpwnam("postgres")
os.mkdir(folder)
os.chown(folder, account.pw_uid, account.pw_gid)
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
subprocess.run([BIN / "initdb", "-D", f"{folder}/data", "-A", "trust", "--no-sync"],
               user="postgres", check=True, **quiet)
settings = {"listen_addresses": "", "unix_socket_directories": folder, "fsync": "off",
            "shared_buffers": f"{job.buffers_mb}MB", "huge_pages": "off", "autovacuum": "off",
            "max_wal_size": "4GB"}
arguments = [word for k, v in settings.items() for word in ("-c", f"{k}={v}")]
server = [BIN / "postgres", "-D", f"{folder}/data"] + arguments


def psql():
    """Opens a session once the server answers."""
    for _ in range(200):
        if subprocess.run([BIN / "pg_isready", "-h", folder, "-q"], check=False).returncode == 0:
            break
        time.sleep(0.1)
    return subprocess.Popen([BIN / "psql", "-h", folder, "-U", "postgres", "-qAtX"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(query):
    """Runs a query and returns its lines."""
    session.stdin.write(query + ";\n\\echo done\n")
    session.stdin.flush()
    lines = []
    while (line := session.stdout.readline().strip()) != "done":
        lines.append(line)
    return lines


def make_table():
    """Fills the table under a first server, so that the measured one starts with empty buffers."""
    global session
    first = subprocess.Popen(server, user="postgres", **quiet)
    session = psql()
    ask("create table sample (id int primary key, body text)")
    ask("alter table sample alter body set storage plain")
    ask("insert into sample select i, repeat(md5(i::text), 100) "
        f"from generate_series(1, {job.rows}) i")
    ask("vacuum sample")
    session.stdin.close()
    session.wait()
    first.send_signal(signal.SIGINT)
    first.wait()


def plan_bytes():
    """Returns what the backend's memory contexts hold."""
    return int(ask("select sum(total_bytes) from pg_backend_memory_contexts")[0])


def free_buffers():
    """Returns how many of the shared buffers have never been used."""
    return int(ask("select count(*) from pg_buffercache where relfilenode is null")[0])


session = None
make_table()
job.start(server, user="postgres", stop=signal.SIGINT)
session = psql()
ask("create extension if not exists pg_buffercache")
before = plan_bytes()
for step in job:
    for _ in range(int(job.queries * job.random.uniform(0.5, 1.5))):
        ask(f"select length(body) from sample where id = {job.random.randrange(job.rows) + 1}")
    if job.mode == "prepare":
        for i in range(int(job.statements * job.random.uniform(0.5, 1.5))):
            name = f"p{step}_{i}"
            ask(f"prepare {name} as select a.id, b.body from sample a join sample b "
                f"on a.id = b.id + {i} where a.id between {step} and {step + i} "
                f"and b.body like '{step}%' order by b.body")
            ask(f"execute {name}")
    elif step % 5 == 0 and free_buffers() == 0:
        job.growth_ends(step)
    if job.mode == "prepare" and step == job.steps:
        job.leak(plan_bytes() - before)
session.stdin.close()
session.wait()
