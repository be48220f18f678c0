#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `--push-format otlp` sends the figures as OTLP/HTTP JSON to /v1/metrics; what a collector does not take at first waits
# in the spool and is sent later, and the job's exit code is its own.
. "$(dirname "$0")/lib.sh"
export no_proxy='*'

cat >collector.py <<'PY'
"""Refuses twice with 503, then takes everything; each request that it takes is a line of JSON in `taken`."""
import http.server, json
left = 2
class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global left
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 200 if left == 0 else 503
        left = max(0, left - 1)
        if status == 200:
            assert self.path == "/v1/metrics" and self.headers["Content-Type"] == "application/json", (self.path, self.headers)
            assert "Content-Encoding" not in self.headers
            with open("taken", "a") as taken:
                taken.write(json.dumps(json.loads(body)) + "\n")
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
PY
python3 collector.py >address 2>collector.err &
collector=$!
trap 'kill $collector 2>/dev/null || true; wait; rm -rf "$SCRATCH"' EXIT
wait_until grep -q http address

run "$PLATEAU" run --no-recording -q --push "$(cat address)" --push-format otlp --push-labels team=vision --push-spool spool \
  --push-every 0.3s --push-farewell 8s -- python3 -c 'import time; time.sleep(1.5); exit(7)'
expect_code 7
expect_empty collector.err
python3 - <<'PY' || fail "not what OTLP says: $(cat err)"
import json
names, times = set(), []
for line in open("taken"):
    request = json.loads(line)
    for resource in request["resourceMetrics"]:
        attributes = {a["key"]: a["value"]["stringValue"] for a in resource["resource"]["attributes"]}
        assert attributes["service.name"] == "plateau" and attributes["job"] == "plateau", attributes
        for scope in resource["scopeMetrics"]:
            for metric in scope["metrics"]:
                names.add(metric["name"])
                for point in metric["gauge"]["dataPoints"]:
                    labels = {a["key"]: a["value"]["stringValue"] for a in point["attributes"]}
                    assert labels["team"] == "vision" and labels["run"].startswith("python3-"), labels
                    assert isinstance(point["timeUnixNano"], str) and isinstance(point["asDouble"], (int, float))
                    if metric["name"] == "plateau_owned_memory_bytes":
                        times.append(int(point["timeUnixNano"]))
assert {"plateau_owned_memory_bytes", "plateau_verdict", "plateau_run_live"} <= names, names
assert len(times) >= 3 and times == sorted(set(times)), times
PY
[ -z "$(find spool -name '*.seg')" ] || fail "something stayed: $(find spool)"
run "$PLATEAU" run --push-format otlp -- true
expect_code 2
expect_in err "--push-format goes with --push"
