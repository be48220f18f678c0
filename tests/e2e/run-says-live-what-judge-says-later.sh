#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The verdict at the end of a run is the one that its recording gives afterwards, in every key.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

cat >grow.py <<'PY'
import sys, time
hold = []
for step in range(1, 101):
    hold.append(bytearray(b"x") * int(1e6 * (2 if step <= int(sys.argv[1]) else 0)))
    if len(sys.argv) > 2:
        print("Step %d: loss 0.3" % step, flush=True)
    time.sleep(0.05)
PY
same() {
  local name=$1
  shift
  "$PLATEAU" run --json -o "$name.plateau" "$@" >/dev/null 2>live.json || true
  "$PLATEAU" judge --json "$name.plateau" >later.json || true
  python3 - live.json later.json <<'PY' || fail "$name: live and later differ"
import json, sys
live, later = (json.load(open(name)) for name in sys.argv[1:])
assert set(live) == set(later), set(live) ^ set(later)
differ = [key for key in live if live[key] != later[key]]
for key in differ:
    print(key, live[key], later[key], file=sys.stderr)
sys.exit(1 if differ else 0)
PY
}
same settles -- python3 grow.py 20 steps
same leaks --limit 900MB -- python3 grow.py 100 steps
same by-time --examples 160 --batch 8 -- python3 grow.py 30
same short -- sleep 0.3
same failing -- sh -c 'sleep 0.5; exit 9'
