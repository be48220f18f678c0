# SPDX-License-Identifier: Apache-2.0
"""What the drivers of servers share: start the server, tell the recorder whom to watch, stop it.

A driver is a Job without a model: its own memory is not measured. Each step sends a fixed mean
amount of work, with some variation, and waits for all answers.
"""
import atexit
import signal
import socket
import subprocess
import time

from steps import Job, say


class ServerJob(Job):
    """A Job whose steps are pieces of work for a server."""

    def __init__(self, **defaults):
        super().__init__(**({"model_mb": 0, "pace_ms": 5.0} | defaults))

    def train(self):
        """Does nothing: the work is the server's."""

    def start(self, command, user=None, stop=signal.SIGTERM):
        """Starts the server, has it watched, and stops it when the driver ends."""
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, user=user)

        def finish():
            server.send_signal(stop)
            try:
                server.wait(timeout=15)
            except subprocess.TimeoutExpired:
                server.kill()

        atexit.register(finish)
        say(f"WATCH {server.pid}")
        return server


def connect(path):
    """Connects to a Unix socket as soon as the server offers it."""
    for _ in range(200):
        try:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(path))
            return connection
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"no server at {path}")
