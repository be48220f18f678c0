#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real Prometheus hangs in mid-pull and is killed there: the service says so in one line, goes on showing what it knew,
# counts the round as failed or partial, and the first round after the database is back is complete again.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"
# shellcheck source=../fleet/engines.sh
. "$SOURCE_DIR/tests/fleet/engines.sh"
command -v promtool >/dev/null || skip "no prometheus here"
service=
trap 'kill $service 2>/dev/null || true; kill -CONT "$PROMETHEUS_PID" 2>/dev/null || true; stop_engines; wait; rm -rf "$SCRATCH"' EXIT
PROMETHEUS_PID=

python3 -B "$SOURCE_DIR/tests/fleet/make_fleet.py" fleet --series 60 --folders dev --leaks 0.05 --seed 4 >made
start_prometheus fleet || fail "Prometheus does not start: $(tail -3 fleet/prometheus.log)"
port=$(free_port)
"$PLATEAU" fleet --url "$PROMETHEUS_URL" --at "$FLEET_END" --every 10s --timeout 60s --listen "127.0.0.1:$port" >address 2>service.err &
service=$!
metric() { curl -sf "http://127.0.0.1:$port/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }
summary() { curl -sf "http://127.0.0.1:$port/api/fleet" | tail -1; }
rounds() { [ "$(metric plateau_fleet_rounds_total)" -ge "$1" ]; }
wait_until rounds 1
before=$(summary)
judged=$(metric plateau_fleet_series_judged)
[ "$judged" -ge 50 ] || fail "$before"

# It hangs; the next round, ten seconds after the one before, asks and waits; then it is gone.
kill -STOP "$PROMETHEUS_PID"
sleep 11
kill -9 "$PROMETHEUS_PID"
wait "$PROMETHEUS_PID" 2>/dev/null || true
twice() { (wait_until "$@") 2>/dev/null || wait_until "$@"; }
twice rounds 2  # Whoever does not answer is asked for half a minute.
[ "$(metric plateau_fleet_rounds_failed_total)" -ge 1 ] || [ "$(metric plateau_fleet_series_failed)" -ge 1 ] ||
  fail "nobody says that a round failed: $(cat service.err)"
expect_harmless service.err
[ -n "$(summary)" ] || fail "what was known is not shown any more"

prometheus --config.file=fleet/prometheus.yml --storage.tsdb.path=fleet/blocks --storage.tsdb.retention.time=30y \
  --web.listen-address="${PROMETHEUS_URL#http://}" >fleet/again.log 2>&1 &
PROMETHEUS_PID=$!
ENGINES+=("$PROMETHEUS_PID")
answers "$PROMETHEUS_URL/-/ready" "$PROMETHEUS_PID" || fail "$(tail -3 fleet/again.log)"
now=$(metric plateau_fleet_rounds_total)
twice rounds $((now + 2))
python3 - "$before" "$(summary)" <<'PY' || fail "$(cat service.err)"
import json, sys
before, after = map(json.loads, sys.argv[1:])
assert not after["partial"] and after["series_failed"] == 0, after
assert all(after[key] == before[key] for key in ("series_judged", "samples", "leaks", "workloads")), (before, after)
PY
kill -TERM "$service"
wait "$service" || fail "the service ended with $?"
service=
