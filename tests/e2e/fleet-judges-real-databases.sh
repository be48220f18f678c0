#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A fleet of 1,000 series with known leaks in a real Prometheus and a real VictoriaMetrics: everybody is
# judged, the list is not false by more than was asked for, and both databases give the same answer.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"
# shellcheck source=../fleet/engines.sh
. "$SOURCE_DIR/tests/fleet/engines.sh"
command -v promtool >/dev/null || skip "no prometheus here"
command -v victoria-metrics >/dev/null || skip "no victoria-metrics here"
trap 'stop_engines; wait; rm -rf "$SCRATCH"' EXIT

python3 -B "$SOURCE_DIR/tests/fleet/make_fleet.py" fleet --series 1000 --folders dev,own --jsonl >made
start_victoria fleet || fail "VictoriaMetrics does not start: $(tail -3 fleet/victoria.log)"
start_prometheus fleet || fail "Prometheus does not start: $(tail -3 fleet/prometheus.log)"

# VictoriaMetrics shows what it took in after a second or so.
arrived() {
  curl -sf "$VICTORIA_URL/api/v1/query" -d time=$FLEET_END --data-urlencode 'query=count(container_memory_rss)' | grep -q '"value"'
}
wait_until arrived
ask() { run "$PLATEAU" fleet --url "$1" --at "$FLEET_END" "${@:2}"; }

for url in "$PROMETHEUS_URL" "$VICTORIA_URL"; do
  ask "$url" --json
  expect_code 1
  python3 -B "$SOURCE_DIR/tests/fleet/score.py" fleet/truth.json out --most-false 0.1 --recall 0.5 --series 960 >score ||
    fail "$url: $(cat score)"
  cp out "answer-${url##*:}.jsonl"
done
# The same findings; figures may differ in the last digits of a timestamp.
python3 - answer-*.jsonl <<'PY'
import json, sys
def leaks(path):
    lines = [json.loads(line) for line in open(path)][:-1]
    return sorted((f["namespace"], f["workload"], f["version"], f["pods"], f["since"] or "") for f in lines if f["verdict"] == "leak")
a, b = map(leaks, sys.argv[1:])
assert a == b and a, (a, b)
PY

# A rollout is named, with the version and the time at which it came.
python3 - answer-*.jsonl <<'PY'
import json, sys
truth = json.load(open("fleet/truth.json"))
lines = [json.loads(line) for line in open(sys.argv[1])][:-1]
rollouts = [f for f in lines if f["verdict"] == "leak" and truth[f"{f['namespace']}/{f['workload']}"]["story"] == "rollout"]
assert rollouts, lines
assert any(f["since"] == "v2" for f in rollouts), rollouts
assert all(f["limit_eta_s"] > 0 for f in rollouts), rollouts
PY

ask "$PROMETHEUS_URL" --html page.html
expect_code 1
expect_in out 'LEAK'
expect_in out 'out of memory in'
expect_harmless err
expect_in page.html '<polyline'
# One namespace only, and a metric by its name.
ask "$PROMETHEUS_URL" --json --query 'container_memory_rss{container!="",namespace="team-1"}'
[ "$code" -ne 2 ] || fail "a query of one's own: $(cat err)"
expect_not_in out '"namespace":"team-2"'
ask "$PROMETHEUS_URL" --preset node
expect_code 2
expect_in err 'knows no series of node_memory_MemAvailable_bytes'
