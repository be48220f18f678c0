#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real Prometheus scrapes /metrics, which it drops whole if a single line is wrong, and gives the
# values back; its linter and the strict OpenMetrics parser of its Python client agree.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

leak_log 80 >'le"ak <b>.log'
flat_log 80 >flat.log
echo nothing >broken.log
"$PLATEAU" serve 'le"ak <b>.log' flat.log broken.log --limit 200GB --listen 127.0.0.1:0 \
  >address 2>serve.err &
server=$!
prometheus=
# shellcheck disable=SC2016
trap 'kill $server $prometheus 2>/dev/null || true; wait; rm -rf "$SCRATCH"' EXIT
wait_until grep -q http address
url=$(cat address)
curl -sf "${url}metrics" >metrics.txt
expect_in metrics.txt 'plateau_verdict{run="flat.log",plateau_verdict="plateau"} 1'
expect_in metrics.txt 'run="le\"ak <b>.log"'
expect_in metrics.txt 'plateau_run_readable{run="broken.log"} 0'
curl -sf -H 'Accept: application/openmetrics-text' "${url}metrics" >open.txt
python3 - <<'PY'
try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    raise SystemExit(0)
families = {f.name: f for f in text_string_to_metric_families(open("open.txt").read())}
assert families["plateau_verdict"].type == "stateset"
assert families["plateau_build"].type == "info"
assert families["plateau_memory_bytes"].unit == "bytes"
PY
command -v promtool >/dev/null && { promtool check metrics <metrics.txt >lint 2>&1 || fail "$(cat lint)"; }
command -v prometheus >/dev/null || skip "no prometheus here"

target=${url#http://}
cat >prometheus.yml <<YML
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: plateau
    static_configs: [{targets: ['${target%/}']}]
YML
# A port that is free now; if somebody takes it meanwhile, another one is tried.
for try in 1 2 3; do
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
    --web.listen-address="127.0.0.1:$port" >prometheus.log 2>&1 &
  prometheus=$!
  ready() { curl -sf "http://127.0.0.1:$port/-/ready" || gone "$prometheus"; }
  wait_until ready
  gone "$prometheus" || break
done
query() { curl -sfG "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$1"; }
came() { query "$1" | grep -q '"value"'; }
wait_until came 'plateau_verdict'
python3 - "$port" <<'PY'
import json, sys, urllib.parse, urllib.request
def ask(query):
    url = f"http://127.0.0.1:{sys.argv[1]}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    return {r["metric"].get("run"): float(r["value"][1]) for r in json.load(urllib.request.urlopen(url))["data"]["result"]}
leak = 'le"ak <b>.log'
assert ask('up{job="plateau"}') == {None: 1}, ask('up{job="plateau"}')
assert ask('plateau_verdict{plateau_verdict="leak"} == 1') == {leak: 1}
assert ask('plateau_verdict{plateau_verdict="plateau"} == 1') == {"flat.log": 1}
owned = ask("plateau_owned_memory_bytes")
assert 80e9 < owned[leak] < 82e9 and 4.9e9 < owned["flat.log"] < 5.1e9, owned
assert ask("plateau_memory_limit_bytes")[leak] == 200e9
growth = ask("plateau_growth_bytes_per_step")
assert 90e6 < growth[leak] < 110e6, growth
assert ask("plateau_last_step")[leak] == 800
assert 0 < ask("plateau_verdict_confidence_ratio")[leak] <= 1
assert ask("plateau_run_readable") == {leak: 1, "flat.log": 1, "broken.log": 0}
PY
