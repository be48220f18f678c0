#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A receiver of remote write with good and bad manners: push_receiver.py MODE LOG [PORT]

Prints its address and serves on 127.0.0.1 until it is killed or its parent is gone. MODE:
  honest   takes everything (204)            guarded   only with "Bearer let-me-in", else 401
  status-N answers with status N             busy      429 with Retry-After: 2, twice; then as honest
  slow     never answers                     endless   bytes without end
  closes   hangs up at once                  redirects leads to another place
Each request that could be read is a line of JSON in LOG: when it came, the status it got, how its labels were
ordered, and its series as [labels, value, milliseconds].
"""
import json
import socket
import struct
import sys
import threading
import time

import loopback_server

MODE, LOG = sys.argv[1], sys.argv[2]
STATE = {"left": 2}
LOCK = threading.Lock()


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def unsnappy(data):
    size, at = varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        kind = tag & 3
        if kind == 0:
            length = tag >> 2
            if length >= 60:
                width = length - 59
                length = int.from_bytes(data[at:at + width], "little")
                at += width
            out += data[at:at + length + 1]
            at += length + 1
            continue
        if kind == 1:
            length, distance = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at]
            at += 1
        else:
            width = 2 if kind == 2 else 4
            length, distance = (tag >> 2) + 1, int.from_bytes(data[at:at + width], "little")
            at += width
        for _ in range(length):
            out.append(out[-distance])
    assert len(out) == size, (len(out), size)
    return bytes(out)


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack("<d", data[at:at + 8])[0], at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def series_of(body):
    found = []
    for _, series in fields(unsnappy(body)):
        labels, value, when = [], 0.0, 0
        for number, part in fields(series):
            inside = dict(fields(part))
            if number == 1:
                labels.append((inside[1].decode(), inside[2].decode()))
            else:
                value, when = inside.get(1, 0.0), inside.get(2, 0)
        assert labels == sorted(labels), labels
        found.append([dict(labels), value, when])
    return found


class Handler(loopback_server.Handler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        assert self.headers["Content-Encoding"] == "snappy", self.headers
        assert self.headers["Content-Type"] == "application/x-protobuf", self.headers
        status, headers = 204, {}
        if MODE.startswith("status-"):
            status = int(MODE[7:])
        elif MODE == "guarded" and self.headers["Authorization"] != "Bearer let-me-in":
            status = 401
        elif MODE == "redirects":
            status, headers = 302, {"Location": "http://127.0.0.1:1/"}
        elif MODE == "busy" and STATE["left"] > 0:
            STATE["left"] -= 1
            status, headers = 429, {"Retry_After": "2"}
        with LOCK, open(LOG, "a", encoding="utf-8") as log:
            said = {"at": time.time(), "path": self.path, "status": status, "series": series_of(body)}
            log.write(json.dumps(said) + "\n")
        if MODE == "slow":
            time.sleep(3600)
        elif MODE == "closes":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif MODE == "endless":
            self.answer_without_end()
        else:
            self.answer(status, b"" if status < 400 else b"no: \x1b[31mout of order\nmore", **headers)


loopback_server.serve(Handler, lambda port: print(f"http://127.0.0.1:{port}", flush=True),
                      int(sys.argv[3]) if len(sys.argv) > 3 else 0)
