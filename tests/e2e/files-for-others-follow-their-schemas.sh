#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# JUnit is valid by Jenkins' schema, SARIF by its published model, the action and the template by those of GitHub and GitLab,
# and a push in OTLP's JSON is read by OpenTelemetry's own messages (tools/stack.sh --schemas).
. "$(dirname "$0")/lib.sh"

schemas=$("$SOURCE_DIR/tools/stack.sh" --schemas) || skip "the schemas are not installed"
export no_proxy='*'
check() { "$schemas/bin/check-jsonschema" --builtin-schema "$@" >checked 2>&1 || fail "$(cat checked)"; }
check vendor.github-actions "$SOURCE_DIR/integrations/github-action/action.yml"
check vendor.gitlab-ci "$SOURCE_DIR/integrations/gitlab/plateau.gitlab-ci.yml"

# One of each: a leak, a level one, one that is too short, one that is no log, names that are markup, and a comparison.
leak_log 80 >'<b>&"x".log'
flat_log 80 >flat.log
flat_log 3 >short.log
echo nothing >none.log
"$PLATEAU" judge ./*.log --junit judged.xml --sarif judged.sarif >out 2>&1 || [ $? -le 3 ] || fail "$(cat out)"
"$PLATEAU" compare --write-baseline base.csv.gz flat.log >out 2>&1
"$PLATEAU" compare --baseline base.csv.gz '<b>&"x".log' --junit compared.xml --sarif compared.sarif >out 2>&1 || [ $? -le 3 ] ||
  fail "$(cat out)"

# A collector that keeps what it is sent.
cat >collector.py <<'PY'
import http.server
class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        with open("sent", "ab") as sent:
            sent.write(self.rfile.read(int(self.headers["Content-Length"])) + b"\n")
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
PY
python3 collector.py >address &
trap 'kill %1 2>/dev/null || true; wait; rm -rf "$SCRATCH"' EXIT
wait_until grep -q http address
"$PLATEAU" run --no-recording -q --push "$(cat address)" --push-format otlp --push-spool spool --push-every 0.3s -- sleep 1 2>err
[ -s sent ] || fail "nothing was sent: $(cat err)"

"$schemas/bin/python" - "$schemas/junit.xsd" <<'PY' || fail "a file is not what its readers expect"
import glob, sys
from google.protobuf import json_format
from lxml import etree
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from sarif_pydantic import Sarif

schema = etree.XMLSchema(etree.parse(sys.argv[1]))
for name in glob.glob("*.xml"):
    schema.assertValid(etree.parse(name))
for name in glob.glob("*.sarif"):
    read = Sarif.model_validate_json(open(name).read())
    assert read.runs[0].tool.driver.name == "plateau", name
# Of the judged, the leak is an error and what is open a note; a level run has nothing to say.
levels = [result.level for result in Sarif.model_validate_json(open("judged.sarif").read()).runs[0].results]
assert len(levels) == 2, levels
points = 0
for line in open("sent"):
    request = json_format.Parse(line, ExportMetricsServiceRequest())  # A field that it does not know is an error.
    points += sum(len(metric.gauge.data_points) for resource in request.resource_metrics
                  for scope in resource.scope_metrics for metric in scope.metrics)
assert points > 10, points
# The schema does refuse.
broken = etree.parse("judged.xml")
broken.getroot().set("no-such-attribute", "1")
assert not schema.validate(broken)
PY
