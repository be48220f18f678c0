# SPDX-License-Identifier: Apache-2.0
"""The server of the documentation's commands: keeps a picture for each address that it is asked for, on port $DOCS_PORT."""
import http.server
import os

pictures = {}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        pictures.setdefault(self.path, bytearray(b"\x01") * 300_000)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["DOCS_PORT"])), Handler).serve_forever()
