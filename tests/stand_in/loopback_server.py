# SPDX-License-Identifier: Apache-2.0
"""What servers of tests have in common: they answer on 127.0.0.1 until they are killed or their parent is gone, whatever
their clients do."""
import http.server
import os
import sys
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    """Says nothing by itself; 204 has no length."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_without_end(self):
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(b"x" * 65536)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, *_):
        kind, error, _ = sys.exc_info()
        if not issubclass(kind, (OSError, ValueError)):  # Else a client that went away.
            print(repr(error), file=sys.stderr, flush=True)


def serve(handler, say, port=0, wrap=None):
    """say(port) is called once it listens; wrap(socket) may put TLS around it."""
    server = _Server(("127.0.0.1", port), handler)
    if wrap:
        server.socket = wrap(server.socket)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say(server.server_address[1])
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.2)
