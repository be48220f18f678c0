#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An HTTP server with the manners of good and bad ones: http_server.py [LOG [CERTIFICATE KEY]]

Prints its port and serves on 127.0.0.1 until it is killed or its parent is gone. What a path does:
  /echo        answers with the request as JSON       /status/503  with that status
  /redirect    leads to /echo                         /away        leads to another port
  /gzip        a compressed text                      /long        bytes without end
  /slow        reads the request and never answers    /flaky       503 twice, then as /echo
  /busy        429, to be asked again in 7 s
Each request is a line of JSON in LOG.
"""
import gzip
import http.server
import json
import os
import ssl
import sys
import threading
import time

LOG = sys.argv[1] if len(sys.argv) > 1 else os.devnull
FLAKY = {"left": 2}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        said = json.dumps({"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body})
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(said + "\n")
        path = self.path.split("?")[0]
        if path == "/slow":
            time.sleep(3600)
        elif path.startswith("/status/"):
            self.answer(int(path.rsplit("/", 1)[1]))
        elif path == "/busy":
            self.answer(429, Retry_After="7")
        elif path == "/redirect":
            self.answer(307, Location="/echo")
        elif path == "/away":
            self.answer(302, Location="http://127.0.0.1:1/secret")
        elif path == "/gzip":
            self.answer(200, gzip.compress(b"plain " * 1000), Content_Encoding="gzip", Content_Type="text/plain")
        elif path == "/long":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(b"x" * 65536)
        elif path == "/flaky" and FLAKY["left"] > 0:
            FLAKY["left"] -= 1
            self.answer(503)
        else:
            self.answer(200, said.encode(), Content_Type="application/json")

    do_GET = do_POST = serve


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # A client that went away.


def main():
    server = Server(("127.0.0.1", 0), Handler)
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.2)


main()
