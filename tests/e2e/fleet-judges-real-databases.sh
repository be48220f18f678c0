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

# A job of four ranks on two nodes, as `plateau run --push` sends it: one verdict, and each node against its limit.
python3 - "$FLEET_END" >ranks.txt <<'PY'
import sys
end = int(float(sys.argv[1]))
for rank in range(4):
    labels = f'{{plateau_job="4711",run="r{rank}",rank="{rank}",node="n{rank // 2}",attempt="0"}}'
    for k in range(240):
        at = 1000 * (end - 15 * (240 - k))
        print(f"plateau_owned_memory_bytes{labels} {2_000_000_000 + k * 7919 % 13 * 100_000 + (5_000_000 * k if rank == 2 else 0)} {at}")
        print(f"plateau_last_step{labels} {2 * k} {at}")
        print(f"plateau_memory_limit_bytes{labels} 16000000000 {at}")
PY
curl -sf --data-binary @ranks.txt "$VICTORIA_URL/api/v1/import/prometheus" || fail "VictoriaMetrics does not take a job in"
job_arrived() {
  curl -sf "$VICTORIA_URL/api/v1/query" -d time=$((${FLEET_END%.*} - 20)) --data-urlencode 'query=plateau_last_step{rank="3"}' | grep -q '"value"'
}
wait_until job_arrived
ask "$VICTORIA_URL" --job 4711 --json
expect_code 1
python3 - <<'PY'
import json
job = json.load(open("out"))["job"]
assert job["id"] == "4711" and job["reach"] == "one rank" and [r["rank"] for r in job["ranks"] if r["odd"]] == [2], job
assert [(n["name"], n["ranks"], n["risk"]["at_step"] is not None) for n in job["nodes"]] == [("n0", 2, False), ("n1", 2, True)], job["nodes"]
PY
ask "$VICTORIA_URL" --job nosuch
expect_code 2
expect_one_line err
