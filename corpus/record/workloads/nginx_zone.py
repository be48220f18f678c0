# SPDX-License-Identifier: Apache-2.0
"""Drives nginx. A request limit keeps one record per key in a shared zone of fixed size: with ever
new keys the zone fills (shared memory of all workers) and then drops its oldest records.
zone_mb=0: no zone; the server answers the same small pages and stays level from the start.
"""
import os
import pathlib
import tempfile

from servers import ServerJob, connect

CONFIGURATION = """
daemon off; pid {folder}/nginx.pid; error_log /dev/null; worker_processes {workers};
events {{ worker_connections 64; }}
http {{
  access_log off; keepalive_requests 100000000; client_body_temp_path {folder}/body;
  {zone}
  server {{ listen unix:{folder}/nginx.sock; location / {{ {limit} root {folder}; }} }}
}}
"""
# One record with a key of this length occupies a 128-byte slot of the zone, whose slots fill
# 4 KiB pages; 2 % of the zone is its own bookkeeping.
RECORD = 128

job = ServerJob(zone_mb=24, requests=500, workers=2)
folder = tempfile.gettempdir()
pathlib.Path(folder, "nginx.conf").write_text(CONFIGURATION.format(
    folder=folder, workers=job.workers,
    zone=f"limit_req_zone $arg_k zone=z:{job.zone_mb}m rate=100000r/s;" if job.zone_mb else "",
    limit="limit_req zone=z burst=1000 nodelay;" if job.zone_mb else ""))
pathlib.Path(folder, "page").write_text("ok")
job.start(["nginx", "-p", folder, "-c", os.path.join(folder, "nginx.conf"), "-e", "/dev/null"])
connections = [connect(os.path.join(folder, "nginx.sock")) for _ in range(4)]
replies = [c.makefile("rb") for c in connections]
sent = 0
if not job.zone_mb:
    job.growth_ends(0)


def read_answer(stream):
    """Reads one answer of known length."""
    length = 0
    while (line := stream.readline()) != b"\r\n":
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    stream.read(length)


for step in job:
    count = int(job.requests * job.random.uniform(0.6, 1.4)) // len(connections)
    for c, connection in enumerate(connections):
        connection.sendall(b"".join(
            b"GET /page?k=sample-%012d-of-an-endless-stream HTTP/1.1\r\nHost: a\r\n\r\n" % number
            for number in range(sent, sent + count)))
        for _ in range(count):
            read_answer(replies[c])
        sent += count
    if job.zone_mb and sent * RECORD > job.zone_mb * 2**20:
        job.growth_ends(step)
