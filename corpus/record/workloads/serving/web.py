# SPDX-License-Identifier: Apache-2.0
"""Drives a web server of Python's standard library over a Unix socket; the server is measured.

mode=sessions: the server keeps the last `limit` sessions; sessions_all: all, as nobody logs out.
buffers: each of `limit` handler threads keeps a buffer as large as its largest answer so far, and
answers have a largest size. stateless: nothing is kept. `requests` come at each step, of part_kb.
"""
import collections
import multiprocessing
import os
import random
import socket
import socketserver
import tempfile

from servers import ServerJob
from steps import fill, say

PATH = os.path.join(tempfile.gettempdir(), "web.sock")


class Handler(socketserver.StreamRequestHandler):
    """Answers `size` of the request line; keeps what the mode says."""

    def handle(self):
        _, client, size = self.rfile.readline().split()
        answer = fill(int(size))
        server = self.server
        if server.mode.startswith("sessions"):
            server.sessions[client] = answer
            if server.mode == "sessions" and len(server.sessions) > server.limit:
                server.sessions.popitem(last=False)
        elif server.mode == "buffers":
            place = random.randrange(server.limit)
            if len(answer) > len(server.sessions.get(place, b"")):
                server.sessions[place] = answer
        self.wfile.write(b"%d\n" % len(answer))


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads, request_queue_size = True, 64


def serve(mode, limit):
    with Server(PATH, Handler) as server:
        server.mode, server.limit, server.sessions = mode, limit, collections.OrderedDict()
        os.write(ready[1], b"x")
        server.serve_forever()


def request(client, size):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(PATH)
        connection.sendall(b"GET %d %d\n" % (client, size))
        return int(connection.makefile("rb").readline())


job = ServerJob(mode="sessions", limit=100, requests=4, part_kb=50.0, model_mb=0)
ready = os.pipe()
server_process = multiprocessing.get_context("fork").Process(
    target=serve, args=(job.mode, job.limit), daemon=True)
server_process.start()
os.read(ready[0], 1)
say(f"WATCH {server_process.pid}")
made, most = 0, job.part_kb * 1024
for step in job:
    for _ in range(int(job.requests * job.random.uniform(0.5, 1.6))):
        made += 1
        part = most * min(1.0, job.random.expovariate(3.0)) + 100
        got = request(made, int(part))
        if job.mode == "sessions_all":
            job.leak(got)
    if job.mode == "sessions" and made > job.limit:
        job.growth_ends(step)
    if job.mode == "stateless":
        job.growth_ends(step)
