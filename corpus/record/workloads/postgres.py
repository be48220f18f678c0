# SPDX-License-Identifier: Apache-2.0
"""What the drivers of PostgreSQL share: a cluster of their own, its settings, psql sessions."""
import os
import pathlib
import pwd
import subprocess
import tempfile
import time

BIN = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
FOLDER = os.path.join(tempfile.gettempdir(), "pg")
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def made_cluster(**settings):
    """Makes a database cluster and returns the command that starts its server."""
    account = pwd.getpwnam("postgres")
    os.mkdir(FOLDER)
    os.chown(FOLDER, account.pw_uid, account.pw_gid)
    subprocess.run([BIN / "initdb", "-D", f"{FOLDER}/data", "-A", "trust", "--no-sync"],
                   user="postgres", check=True, **QUIET)
    settings = {"listen_addresses": "", "unix_socket_directories": FOLDER, "fsync": "off",
                "huge_pages": "off", "autovacuum": "off"} | settings
    arguments = [word for k, v in settings.items() for word in ("-c", f"{k}={v}")]
    return [BIN / "postgres", "-D", f"{FOLDER}/data"] + arguments


def await_server():
    """Returns as soon as the server answers, or after 20 s."""
    for _ in range(200):
        if subprocess.run([BIN / "pg_isready", "-h", FOLDER, "-q"], check=False).returncode == 0:
            return
        time.sleep(0.1)


class Session:
    """A psql session. Requires: the server answers."""

    def __init__(self):
        self.psql = subprocess.Popen([BIN / "psql", "-h", FOLDER, "-U", "postgres", "-qAtX"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, query):
        """Runs a query and returns its lines."""
        self.psql.stdin.write(query + ";\n\\echo done\n")
        self.psql.stdin.flush()
        lines = []
        while (line := self.psql.stdout.readline().strip()) != "done":
            lines.append(line)
        return lines

    def held_bytes(self):
        """Returns what the backend's memory contexts hold."""
        return int(self.ask("select sum(total_bytes) from pg_backend_memory_contexts")[0])

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()
