#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Remote write over an outage of the receiver: bench/push_outage.sh [OUTAGE_SECONDS] (default 600).
# A job pushes to a real Prometheus every 5 s; Prometheus is killed with SIGKILL, stays away for that long and comes
# back at the same address. Prints how many samples there are, how many there must be, and the longest gap; fails if
# one is missing. Takes the outage and two minutes more.
set -euo pipefail
SOURCE_DIR=$(cd "$(dirname "$0")/.." && pwd)
PLATEAU=${PLATEAU:-$SOURCE_DIR/build/release/plateau}
outage=${1:-600}
# shellcheck source=../tests/fleet/engines.sh
. "$SOURCE_DIR/tests/fleet/engines.sh"
export no_proxy='*'
scratch=$(mktemp -d)
trap 'stop_engines; kill "$job" 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT
job=
cd "$scratch"
mkdir p
start_prometheus p --web.enable-remote-write-receiver
"$PLATEAU" run --push "$PROMETHEUS_URL" --push-every 5s --push-spool spool -o outage.plateau -q -- \
  python3 -c "import time; x = [bytes(10**6)]; [(x.append(bytes(10**4)), time.sleep(0.1)) for _ in range(int(10 * ($outage + 60)))]" 2>err &
job=$!
sleep 30
kill -9 "$PROMETHEUS_PID"
sleep "$outage"
prometheus --config.file=p/prometheus.yml --storage.tsdb.path=p/blocks --storage.tsdb.retention.time=30y \
  --web.listen-address="${PROMETHEUS_URL#http://}" --web.enable-remote-write-receiver >p/again.log 2>&1 &
ENGINES+=("$!")
wait "$job"
cat err
python3 - "$PROMETHEUS_URL" "$outage" <<'PY'
import json, sys, urllib.parse, urllib.request
url, outage = sys.argv[1], float(sys.argv[2])
def ask(query):
    with urllib.request.urlopen(f"{url}/api/v1/query?" + urllib.parse.urlencode({"query": query})) as answer:
        return json.load(answer)["data"]["result"]
(series,) = ask('plateau_owned_memory_bytes{run="outage.plateau"}[%ds]' % (outage + 600))
times = [t for t, _ in series["values"]]
gaps = [b - a for a, b in zip(times, times[1:])]
print(f"{len(times)} samples over {times[-1] - times[0]:.0f} s with an outage of {outage:.0f} s; longest gap {max(gaps):.1f} s")
assert max(gaps) < 7 and times[-1] - times[0] > outage + 50
PY
