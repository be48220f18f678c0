#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A database that misbehaves: lying_database.py MODE [PODS]. Prints its address, serves on 127.0.0.1 until killed.

  honest     answers
  refuses    401 to everything
  guarded    401 without the bearer token "let-me-in", the user "me:secret", or the tenant "shop"
  garbage    HTML instead of samples
  truncated  half of a JSON answer
  too-much   422 to more than five pods at once
  limited    429 to every second question for samples
  busy       503 to the first four questions for samples
  huge       200 MB instead of samples to more than one pod at once
  slow       never ends answers to more than one pod at once
  dies       ends itself after the first few samples
  warns      answers, with a warning that it is partial
  sealed     answers over TLS, to whom shows a certificate of ca.pem; server.pem has its own, with the key
  stale      goes on with a series after its end, tells times that were not asked for, twice and out of order, and markers
"""
import http.server
import json
import os
import re
import ssl
import sys
import threading
import time
import urllib.parse

MODE = sys.argv[1]
PODS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
END = 1793534400
NAMES = [f"api{i}-bcdfg" for i in range(PODS)]
asked = [0]
lock = threading.Lock()


def labels(i):
    return {"__name__": "container_memory_rss", "namespace": "shop", "pod": NAMES[i], "container": "app", "image": "i:v1"}


def samples(i):
    return [[END - 21600 + 120 * k, str(int((200 + (2.0 * k if i == 3 else 0) + k * 7919 % 13 * 0.1) * 1e6))] for k in range(180)]


def stale(values):
    """The same series as one who has no idea of time tells it."""
    after = [[END + 120 * k, values[-1][1]] for k in range(1, 200)]
    before = [[END - 86400 + 120 * k, str(10 ** 9)] for k in range(60)]
    markers = [[at + 60, "NaN"] for at, _ in values[::7]] + [[END - 300, None], ["then", "1"], [END - 200]]
    return after + values[::-1] + markers + before + values[:20]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send(self, status, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def endless(self, seconds, chunk, chunks):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        for _ in range(chunks):
            try:
                self.wfile.write(chunk)
            except OSError:
                break
            time.sleep(seconds)
        self.close_connection = True

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        if MODE == "refuses":
            return self.send(401, {"status": "error", "error": "who are you?\x1b[31m"})
        known = ("Bearer let-me-in", "Basic bWU6c2VjcmV0")
        if MODE == "guarded" and (self.headers.get("Authorization") not in known or self.headers.get("X-Scope-OrgID") != "shop"):
            return self.send(401, {"status": "error", "error": "no"})
        if self.path.endswith("/series"):
            return self.send(200, {"status": "success", "data": [labels(i) for i in range(PODS)]})
        query = form.get("query", [""])[0]
        if "[21600s]" not in query or not query.startswith("container_memory_rss"):
            return self.send(200, {"status": "success", "data": {"resultType": "vector", "result": []}})
        names = re.findall(r'pod=~"([^"]*)"', query)
        wanted = [i for i in range(PODS) if not names or NAMES[i] in names[0].split("|")]
        with lock:
            asked[0] += 1
            count = asked[0]
        if MODE == "garbage":
            return self.send(200, b"<html><body>Welcome to nginx</body></html>")
        if MODE == "too-much" and len(wanted) > 5:
            return self.send(422, {"status": "error", "error": "query processing would load too many samples"})
        if MODE == "limited" and count % 2 == 1:
            return self.send(429, {"status": "error", "error": "too many requests"})
        if MODE == "busy" and count <= 4:
            return self.send(503, {"status": "error", "error": "starting"})
        if MODE == "huge" and len(wanted) > 1:
            return self.endless(0, b" " * 1048576, 200)
        if MODE == "slow" and len(wanted) > 1:
            return self.endless(0.2, b" ", 200)
        if MODE == "dies" and count > 2:
            os._exit(0)
        body = {"status": "success", "data": {"resultType": "matrix", "result": [
            {"metric": labels(i), "values": stale(samples(i)) if MODE == "stale" else samples(i)} for i in wanted]}}
        if MODE == "warns":
            body["warnings"] = ["store-gateway 3 is down: partial response"]
        if MODE == "truncated":
            return self.send(200, json.dumps(body).encode()[:2000])
        return self.send(200, body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if MODE == "sealed":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("server.pem")
    context.load_verify_locations("ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(f"http{'s' if MODE == 'sealed' else ''}://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
