#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run --push into a real Prometheus and a real VictoriaMetrics, each killed in the middle and started again:
# no sample is missing. plateau itself is killed with a spool: the next run brings it. `plateau fleet` judges
# what was pushed, and node-exporter's format holds the same figures.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"
# shellcheck source=../fleet/engines.sh
. "$SOURCE_DIR/tests/fleet/engines.sh"
command -v promtool >/dev/null || skip "no prometheus here"
command -v victoria-metrics >/dev/null || skip "no victoria-metrics here"
export no_proxy='*'
trap 'stop_engines; kill $job 2>/dev/null || true; wait; rm -rf "$SCRATCH"' EXIT
job=

mkdir p v
echo 'global: {scrape_interval: 5s}' >p/prometheus.yml
: >v/fleet.jsonl
start_prometheus p --web.enable-remote-write-receiver || fail "Prometheus does not start: $(tail -3 p/prometheus.log)"
start_victoria v || fail "VictoriaMetrics does not start: $(tail -3 v/victoria.log)"
# Again, at the same address.
prometheus_again() {
  prometheus --config.file=p/prometheus.yml --storage.tsdb.path=p/blocks --storage.tsdb.retention.time=30y \
    --web.listen-address="${PROMETHEUS_URL#http://}" --web.enable-remote-write-receiver >p/again.log 2>&1 &
  PROMETHEUS_PID=$!
  ENGINES+=("$!")
}
victoria_again() {
  victoria-metrics -storageDataPath=v/victoria -httpListenAddr="${VICTORIA_URL#http://}" -retentionPeriod=100y \
    -loggerLevel=ERROR >v/again.log 2>&1 &
  VICTORIA_PID=$!
  ENGINES+=("$!")
}

# A leak of a megabyte a step.
cat >leak.py <<'PY'
import sys, time
kept = []
for step in range(int(sys.argv[1])):
    kept.append(bytearray(b"x" * 1_000_000))
    print(f"Step {step + 1}: loss 0.5", flush=True)
    time.sleep(0.1)
PY
push() { "$PLATEAU" run -q --push "$1" --push-every 0.3s --push-spool spool --epoch-steps 20 "${@:2}"; }

push "$PROMETHEUS_URL" -o p.plateau --textfile p.prom --push-labels team=vision -- python3 leak.py 150 >p.out 2>p.err &
to_prometheus=$!
push "$VICTORIA_URL" -o v.plateau -- python3 leak.py 150 >v.out 2>v.err &
to_victoria=$!
job="$to_prometheus $to_victoria"
sleep 4
# Prometheus by SIGKILL; VictoriaMetrics, which may lose what it took a second ago that way, by SIGTERM.
kill -9 "$PROMETHEUS_PID"
kill "$VICTORIA_PID"
sleep 4
expect_in p.err 'samples wait in'
prometheus_again
victoria_again
answers "$PROMETHEUS_URL/-/ready" "$PROMETHEUS_PID" || fail "$(tail -3 p/again.log)"
wait "$to_prometheus" || fail "$(cat p.err)"
wait "$to_victoria" || fail "$(cat v.err)"
for err in p.err v.err; do expect_in $err 'takes samples again'; done
[ -z "$(find spool -name '*.seg')" ] || fail "something stayed: $(find spool)"
curl -sf -o /dev/null "$VICTORIA_URL/internal/force_flush"

cat >look.py <<'PY'
import json, sys, time, urllib.parse, urllib.request
url, run, told = sys.argv[1:4]
def ask(query):
    with urllib.request.urlopen(f"{url}/api/v1/query?" + urllib.parse.urlencode({"query": query})) as answer:
        return json.load(answer)["data"]["result"]
(series,) = ask('plateau_owned_memory_bytes{run="%s"}[5m]' % run)
times = [t for t, _ in series["values"]]
gaps = [b - a for a, b in zip(times, times[1:])]
# The first is told after a second; then every 0.3 s, of a job of 15 s. A tick may be late on a busy machine.
assert len(times) >= 30 and max(gaps) < 1.6, (len(times), sorted(gaps)[-3:])
assert times[-1] - times[0] > 12, times
labels = series["metric"]
assert labels["job"] == "plateau" and labels["instance"] == labels["node"], labels
(live,) = ask('plateau_run_live{run="%s"}[5m]' % run)
assert [v for _, v in live["values"]][-2:] == ["1", "0"], live["values"][-3:]
# The last word is the one that the user was told.
words = {s["metric"]["plateau_verdict"]: s["values"][-1][1] for s in ask('plateau_verdict{run="%s"}[5m]' % run)}
assert [word for word, holds in words.items() if holds == "1"] == [told], (words, told)
print(len(times), "samples, longest gap", round(max(gaps), 2), "s")
PY
told() { grep -oE '^(LEAK|PLATEAU|WARMING|UNDECIDED)' "$1" | tr '[:upper:]' '[:lower:]'; }
python3 look.py "$PROMETHEUS_URL" p.plateau "$(told p.err)" || fail "Prometheus: $(cat p.err)"
# VictoriaMetrics shows what it took in after a second or so.
for ((try = 0; try < 20; try++)); do
  python3 look.py "$VICTORIA_URL" v.plateau "$(told v.err)" 2>look.err && break
  sleep 0.5
done
[ "$try" -lt 20 ] || fail "VictoriaMetrics: $(cat look.err v.err)"

# The same figures as text.
promtool check metrics <p.prom >lint 2>&1 || fail "$(cat lint)"
expect_in p.prom 'plateau_verdict{run="p.plateau",team="vision",node='
expect_in p.prom 'plateau_run_live{run="p.plateau"'
[ -z "$(find . -name '*.tmp')" ] || fail "a part of a textfile was left: $(ls -A)"

# plateau is killed in an outage; the job goes on, and the next run to that address brings what waits.
kill -9 "$PROMETHEUS_PID"
wait "$PROMETHEUS_PID" 2>/dev/null || true
"$PLATEAU" run -q --push "$PROMETHEUS_URL" --push-every 0.3s --push-spool spool -o killed.plateau -- python3 leak.py 60 >k.out 2>k.err &
killed=$!
sleep 3
sender=$(pgrep -P "$killed" -x plateau-push) || fail "nobody pushes"
kill -9 "$sender" "$killed"
wait "$killed" 2>/dev/null || true
[ -n "$(find spool -name '*.seg')" ] || fail "no spool was left"
prometheus_again
answers "$PROMETHEUS_URL/-/ready" "$PROMETHEUS_PID" || fail "$(tail -3 p/again.log)"
push "$PROMETHEUS_URL" --no-recording -- sleep 1 >n.out 2>n.err
[ -z "$(find spool -name '*.seg')" ] || fail "the spool stayed: $(cat n.err)"
count() { curl -sfG "$PROMETHEUS_URL/api/v1/query" --data-urlencode "query=$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["result"][0]["value"][1])'; }
[ "$(count 'count_over_time(plateau_owned_memory_bytes{run="killed.plateau"}[5m])')" -ge 4 ] || fail "the killed one's samples are lost"

# plateau's own preset reads and judges what was pushed; a quarter of a minute decides nothing.
run "$PLATEAU" fleet --url "$PROMETHEUS_URL" --preset plateau --window 10m --json
python3 - <<'PY' || fail "$(cat out err)"
import json
summary = json.loads(open("out").readlines()[-1])
assert summary["series_judged"] >= 1 and summary["series_failed"] == 0 and summary["samples"] >= 30, summary
PY

# Of six hours of the same series, which nobody waits for here, it names the one that leaks: steps tell the load.
python3 - <<'PY' >hours.jsonl
import json, random, time
random.seed(1)
times = [(int(time.time()) - 60 - 30 * (719 - i)) * 1000 for i in range(720)]
for run, slope in (("leaky.plateau", 1e6), ("level.plateau", 0)):
    labels = {"run": run, "job": "plateau", "instance": "h", "node": "h"}
    for name, values in (("plateau_owned_memory_bytes", [2e9 + slope * i + random.gauss(0, 2e5) for i in range(720)]),
                         ("plateau_last_step", [10 * i for i in range(720)])):
        print(json.dumps({"metric": {"__name__": name, **labels}, "values": values, "timestamps": times}))
PY
curl -sf -X POST -T hours.jsonl "$VICTORIA_URL/api/v1/import"
curl -sf -o /dev/null "$VICTORIA_URL/internal/force_flush"
leaky() {
  "$PLATEAU" fleet --url "$VICTORIA_URL" --preset plateau --json >found 2>err || true
  grep '"verdict":"leak"' found | grep -q '"workload":"leaky.plateau"'
}
wait_until leaky
! grep '"verdict":"leak"' found | grep -q level || fail "$(cat found)"
expect_in found '"load":"work"'
