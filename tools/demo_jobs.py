#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fifty small jobs of six services for tools/demo.sh: demo_jobs.py DIR, runs until it is ended.

Each is a process that tells of itself on a port of its own, as client libraries do (process_resident_memory_bytes and
its kin), and works a little all the time. Two things are wrong: all three pods of `thumbnails` keep what they decode, and
one pod of `web` keeps its requests. `search` has filled a cache; `batch` goes up and down.

No verdict is possible in the first minutes of a process, and nobody waits for hours in a demo: DIR/fleet.om has six hours of
what these jobs would have told before, from which they go on. DIR/targets.json is what Prometheus' file_sd_configs reads.
"""
import http.server
import json
import math
import os
import sys
import time

PODS = {"api": 12, "web": 12, "search": 8, "batch": 8, "auth": 7, "thumbnails": 3}
HISTORY_S, SCRAPE_S, TICK_S, DAY_S = 6 * 3600, 30, 0.5, 86400
MB = 1 << 20
CPU_SHARE = 0.002  # Of a core, about.


def held(service, number, at_s):
    """MB that a pod holds so long after the history begins."""
    hours = at_s / 3600
    if service == "thumbnails":
        return 8 + (16 + 2 * number) * hours
    if service == "web" and number == 7:
        return 6 + 12 * hours
    if service == "search":
        return 8 + 24 * (1 - math.exp(-3 * hours))
    if service == "batch":
        return 6 + 10 * ((at_s / 1800 + number / 8) % 1)
    return 5 + number % 3


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        cpu_s = HISTORY_S * CPU_SHARE + time.process_time()
        body = (f"process_resident_memory_bytes {resident()}\nprocess_start_time_seconds {self.server.began:.0f}\n"
                f"process_cpu_seconds_total {cpu_s:.4f}\n").encode()
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # Whoever asked was in a hurry.

    def log_message(self, *args):
        pass


def live(service, number, begins, pipe):
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    server.began = begins - 2 * DAY_S
    os.write(pipe, f"{server.server_port} {resident()}\n".encode())
    os.close(pipe)
    kept, parent, due = [], os.getppid(), time.monotonic()
    while os.getppid() == parent:
        wanted = round(held(service, number, time.time() - begins))
        kept += [bytearray(b"x" * MB) for _ in range(wanted - len(kept))]
        del kept[wanted:]
        sum(i * i for i in range(3000))  # Its work.
        due = max(due + TICK_S, time.monotonic())
        while (left := due - time.monotonic()) > 0:
            server.timeout = left
            server.handle_request()


def history(jobs, begins, out):
    times = [begins + i * SCRAPE_S for i in range(HISTORY_S // SCRAPE_S)]
    tells = {
        "process_cpu_seconds_total": lambda job, at: f"{(at - begins) * CPU_SHARE:.4f}",
        "process_resident_memory_bytes": lambda job, at: str(
            job["base"] + int(MB * (held(job["service"], job["number"], at - begins) + 0.1 * math.sin(at * 12.9898)))),
        "process_start_time_seconds": lambda job, at: f"{begins - 2 * DAY_S:.0f}",
    }
    for metric, value in tells.items():
        out.write(f"# TYPE {metric} unknown\n")
        for job in jobs:
            labels = f'job="jobs",instance="{job["address"]}",service="{job["service"]}",pod="{job["service"]}-{job["number"]}"'
            out.writelines(f"{metric}{{{labels}}} {value(job, at)} {at:.3f}\n" for at in times)
    out.write("# EOF\n")


def main():
    where, begins, jobs = sys.argv[1], time.time() - HISTORY_S, []
    for service, count in PODS.items():
        for number in range(count):
            come, go = os.pipe()
            if os.fork() == 0:
                os.close(come)
                try:
                    live(service, number, begins, go)
                finally:
                    os._exit(0)
            os.close(go)
            with os.fdopen(come) as pipe:
                port, base = pipe.read().split()
            jobs.append({"service": service, "number": number, "address": f"127.0.0.1:{port}", "base": int(base)})
    with open(f"{where}/fleet.om", "w", encoding="ascii") as out:
        history(jobs, begins, out)
    with open(f"{where}/targets.json", "w", encoding="ascii") as out:
        json.dump([{"targets": [job["address"]], "labels": {"service": job["service"], "pod": f"{job['service']}-{job['number']}"}}
                   for job in jobs], out)
    print(f"{len(jobs)} jobs of {len(PODS)} services", flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main()
