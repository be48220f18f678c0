#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `plateau fleet` costs by the size of the fleet, on a real Prometheus and a real VictoriaMetrics, and how
# it fares beside the usual rules: bench/fleet_scale.sh [SERIES...] (default 100 1000 10000 50000).
# Ten thousand series take about five minutes and 3 GB of disk in TMPDIR, most of it to make the fleet. More than that
# are copies of ten thousand in namespaces of their own, and in VictoriaMetrics only: promtool reads its text once for
# every two hours that are in it. FOLDERS (default dev,own) and SEED (default 3) make other fleets of the same kind.
set -euo pipefail
SOURCE_DIR=$(cd "$(dirname "$0")/.." && pwd)
PLATEAU=${PLATEAU:-$SOURCE_DIR/build/release/plateau}
# shellcheck source=../tests/fleet/engines.sh
. "$SOURCE_DIR/tests/fleet/engines.sh"
scratch=$(mktemp -d)
trap 'stop_engines; wait; rm -rf "$scratch"' EXIT
cd "$scratch"
[ $# -gt 0 ] || set -- 100 1000 10000 50000

# measure NAME URL PID: one line.
measure() {
  local code=0
  /usr/bin/time -o cost -f '%U %S %e %M' "$PLATEAU" fleet --url "$2" --at "$FLEET_END" --json >found.jsonl || code=$?
  [ "$code" -ne 2 ] || return 1
  python3 - "$1" "$3" <<'PY'
import json, sys
user, system, wall, kb = (float(x) for x in open("cost").read().split()[-4:])
summary = json.loads(open("found.jsonl").readlines()[-1])
server = next(int(line.split()[1]) for line in open(f"/proc/{sys.argv[2]}/status") if line.startswith("VmHWM"))
n = summary["series_judged"]
print(f"| {sys.argv[1]} | {n:,} | {summary['samples']:,} | {user + system:.1f} s | {1000 * (user + system) / n:.2f} ms | "
      f"{kb / 1000:.0f} MB | {wall:.0f} s | {server / 1000:.0f} MB |", flush=True)
PY
}
echo '| database | series judged | samples | CPU of plateau | CPU a series | plateau, at most | wall clock | server, at most |'
echo '|---|---|---|---|---|---|---|---|'
for series; do
  how=(--series "$series" --jsonl)
  [ "$series" -le 10000 ] || how=(--series 10000 --copies $((series / 10000)) --jsonl-only)
  python3 -B "$SOURCE_DIR/tests/fleet/make_fleet.py" fleet --folders "${FOLDERS:-dev,own}" --seed "${SEED:-3}" "${how[@]}" >/dev/null
  start_victoria fleet
  sleep 5  # It shows what it took in a little later.
  measure "VictoriaMetrics" "$VICTORIA_URL" "$VICTORIA_PID"
  url=$VICTORIA_URL
  if [ "$series" -le 10000 ]; then
    stop_engines
    start_prometheus fleet
    url=$PROMETHEUS_URL
    measure "Prometheus" "$url" "$PROMETHEUS_PID"
  fi
  python3 -B "$SOURCE_DIR/bench/fleet_rules.py" "$url" fleet/truth.json found.jsonl >"rules.$series"
  python3 -B "$SOURCE_DIR/tests/fleet/score.py" fleet/truth.json found.jsonl >"score.$series"
  stop_engines
  wait
  rm -rf fleet
done
for series; do
  echo
  cat "score.$series" "rules.$series"
done
