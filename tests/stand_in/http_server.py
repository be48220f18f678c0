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
import json
import os
import ssl
import sys
import time

import loopback_server

LOG = sys.argv[1] if len(sys.argv) > 1 else os.devnull
FLAKY = {"left": 2}


class Handler(loopback_server.Handler):
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
            self.answer_without_end()
        elif path == "/flaky" and FLAKY["left"] > 0:
            FLAKY["left"] -= 1
            self.answer(503)
        else:
            self.answer(200, said.encode(), Content_Type="application/json")

    do_GET = do_POST = serve


def sealed(socket):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    return context.wrap_socket(socket, server_side=True)


loopback_server.serve(Handler, lambda port: print(port, flush=True), wrap=sealed if len(sys.argv) > 3 else None)
