#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fifty small jobs of six services for tools/demo.sh: demo_jobs.py TARGETS.json, runs until it is ended.

Each is a process that tells of itself on a port of its own, as client libraries do (process_resident_memory_bytes and
its kin), and works a little all the time. Two things are wrong: all three pods of `thumbnails` keep what they decode, and
one pod of `web` keeps its requests. `search` fills a cache and stops; `batch` goes up and down.
TARGETS.json is what Prometheus' file_sd_configs reads.
"""
import http.server
import json
import os
import sys
import time

PODS = {"api": 12, "web": 12, "search": 8, "batch": 8, "auth": 7, "thumbnails": 3}
TICK_S = 0.5
PAGE_MB = 1


class Memory:
    """What a pod of a service holds, a tick after another."""

    def __init__(self, service, number):
        self.service, self.number, self.kept, self.ticks = service, number, [], 0
        self.take(4 + number % 3)

    def take(self, mb):
        self.kept += [bytearray(b"x" * (PAGE_MB << 20)) for _ in range(mb)]

    def tick(self):
        self.ticks += 1
        if self.service == "thumbnails" or (self.service == "web" and self.number == 7):
            if self.ticks % 4 == self.number % 4:
                self.take(1)
        elif self.service == "search" and len(self.kept) < 40:
            self.take(1)
        elif self.service == "batch":
            phase = self.ticks % 60
            if phase < 20 and phase % 2 == 0:
                self.take(1)
            elif phase == 59:
                del self.kept[4 + self.number % 3:]
        sum(i * i for i in range(3000))  # Its work.


def metrics(began):
    with open("/proc/self/statm", encoding="ascii") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return (f"# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes {resident}\n"
            f"# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds {began:.2f}\n"
            f"# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total {time.process_time():.3f}\n")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = metrics(self.server.began).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        try:
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # Whoever asked was in a hurry.

    def log_message(self, *args):
        pass


def live(service, number, port_pipe):
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    server.began = time.time()
    os.write(port_pipe, f"{server.server_port}\n".encode())
    os.close(port_pipe)
    memory, parent = Memory(service, number), os.getppid()
    due = time.monotonic()
    while os.getppid() == parent:
        server.timeout = max(due - time.monotonic(), 0.01)
        server.handle_request()
        if time.monotonic() >= due:
            memory.tick()
            due += TICK_S


def main():
    targets = []
    for service, count in PODS.items():
        for number in range(count):
            come, go = os.pipe()
            if os.fork() == 0:
                os.close(come)
                try:
                    live(service, number, go)
                finally:
                    os._exit(0)
            os.close(go)
            with os.fdopen(come) as port:
                address = f"127.0.0.1:{port.read().strip()}"
            targets.append({"targets": [address], "labels": {"service": service, "pod": f"{service}-{number}"}})
    with open(sys.argv[1] + ".new", "w", encoding="ascii") as file:
        json.dump(targets, file)
    os.replace(sys.argv[1] + ".new", sys.argv[1])
    print(f"{len(targets)} jobs of {len(PODS)} services", flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main()
