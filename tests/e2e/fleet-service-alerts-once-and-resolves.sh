#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The service is scraped by a real Prometheus with our rules: a leak of the fleet arrives through a real
# Alertmanager as one grouped alert with a link, every query of the dashboard is answered, and when the
# leak is gone the alert resolves.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"
# shellcheck source=../fleet/engines.sh
. "$SOURCE_DIR/tests/fleet/engines.sh"
for tool in promtool prometheus prometheus-alertmanager; do
  command -v $tool >/dev/null || skip "no $tool here"
done
integrations=$SOURCE_DIR/integrations/prometheus
service='' receiver=''
# shellcheck disable=SC2086
trap 'kill $service $receiver 2>/dev/null || true; stop_engines; wait; rm -rf "$SCRATCH"' EXIT
promtool check rules "$integrations/plateau-fleet-rules.yml" >lint || fail "$(cat lint)"

python3 -B "$SOURCE_DIR/tests/fleet/make_fleet.py" fleet --series 150 --folders dev --leaks 0.03 --seed 4 >made
start_prometheus fleet || fail "Prometheus does not start: $(tail -3 fleet/prometheus.log)"
database=$PROMETHEUS_URL

serve_port=$(free_port)
# look OPTION...: the service, anew, at the same address.
look() {
  rm -f service.err
  "$PLATEAU" fleet --url "$database" --at "$FLEET_END" --every 10s --listen "127.0.0.1:$serve_port" "$@" >address 2>service.err &
  service=$!
  wait_until grep -q leak service.err
}
look
curl -sf "http://127.0.0.1:$serve_port/metrics" >metrics.txt
promtool check metrics <metrics.txt >lint 2>&1 || fail "$(cat lint)"
expect_in metrics.txt 'plateau_fleet_verdict="leak"} 1'
expect_in metrics.txt 'plateau_fleet_fdr 0.1'
curl -sf "http://127.0.0.1:$serve_port/" >page.html
expect_in page.html '<polyline'
curl -sf "http://127.0.0.1:$serve_port/api/fleet" | tail -1 | grep -q series_judged || fail "no summary"
[ "$(curl -s -o answer -w '%{http_code}' -X POST "http://127.0.0.1:$serve_port/")" = 405 ] || fail "a POST was answered"
[ "$(curl -s -o answer -w '%{http_code}' -H 'Host: evil.example' "http://127.0.0.1:$serve_port/")" = 403 ] || fail "rebinding"

touch told.jsonl
python3 "$SOURCE_DIR/tests/stand_in/alert_receiver.py" told.jsonl >receiver.port &
receiver=$!
wait_until grep -q . receiver.port
sed -e "s/127.0.0.1:5001/127.0.0.1:$(cat receiver.port)/" -e 's/group_wait: .*/group_wait: 1s/' \
  -e 's/group_interval: .*/group_interval: 1s/' "$integrations/alertmanager-example.yml" >alertmanager.yml
alert_port=$(free_port)
prometheus-alertmanager --config.file=alertmanager.yml --storage.path=alerts --cluster.listen-address= \
  --web.listen-address="127.0.0.1:$alert_port" >alertmanager.log 2>&1 &
ENGINES+=($!)
answers "http://127.0.0.1:$alert_port/-/ready" $! || fail "Alertmanager does not start: $(tail -3 alertmanager.log)"

mkdir watcher
cat >watcher/prometheus.yml <<YML
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: ['$integrations/plateau-fleet-rules.yml']
alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:$alert_port']}]}]}
scrape_configs: [{job_name: plateau-fleet, static_configs: [{targets: ['127.0.0.1:$serve_port']}]}]
YML
start_prometheus watcher || fail "the second Prometheus does not start: $(tail -3 watcher/prometheus.log)"

wait_until grep -q '"status":"firing"' told.jsonl
python3 - "$serve_port" <<'PY'
import json, sys
lines = [json.loads(line) for line in open("told.jsonl")]
groups = [tuple(sorted(n["groupLabels"].items())) for n in lines]
assert all(set(dict(g)) == {"namespace", "workload"} for g in groups), groups
alert = next(a for n in lines for a in n["alerts"] if a["labels"]["alertname"] == "PlateauFleetLeak")
assert alert["annotations"]["report_url"] == f"http://127.0.0.1:{sys.argv[1]}/", alert
assert "leaks memory" in alert["annotations"]["summary"], alert
assert "Growing pods: " in alert["annotations"]["description"], alert
PY
# Every query of the dashboard is one that this Prometheus answers, and most have something to show.
python3 - "$PROMETHEUS_URL" "$integrations/plateau-fleet-dashboard.json" <<'PY'
import json, sys, urllib.parse, urllib.request
shown = 0
queries = [t["expr"] for p in json.load(open(sys.argv[2]))["panels"] for t in p["targets"]]
for query in queries:
    url = sys.argv[1] + "/api/v1/query?" + urllib.parse.urlencode({"query": query})
    answer = json.load(urllib.request.urlopen(url))
    assert answer["status"] == "success", query
    shown += bool(answer["data"]["result"])
assert len(queries) >= 10 and shown >= len(queries) - 1, (shown, len(queries))
PY

# The leak is gone: the pods that leaked are not looked at any more.
calm=$(python3 -c '
import json
print("|".join(name.split("/")[1] + "-.*" for name, fact in json.load(open("fleet/truth.json")).items() if not fact["leak"]))')
kill "$service"
wait "$service" || fail "the service ended with $?"
look --match "pod=~\"$calm\""
expect_in service.err 'No leak'
wait_until grep -q '"status":"resolved"' told.jsonl
kill -TERM "$service"
wait "$service" || fail "the service ended with $?"
service=
