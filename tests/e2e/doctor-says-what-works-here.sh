#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# plateau doctor: one screen, exit 0 where jobs can be watched, the same as JSON; changes nothing.
. "$(dirname "$0")/lib.sh"

run "$PLATEAU" doctor
expect_code 0
expect_empty err
expect_in out "READY"
for name in memory others attach tracer python steps names cgroup shm gpu sandbox train; do
  grep -qE "^  $name +(works|limited|missing) " out || fail "no line about $name: $(cat out)"
done
grep -qE '^  memory +works ' out || fail "memory cannot be read here: $(cat out)"
[ "$(wc -l <out)" -le 40 ] || fail "more than a screen"
! grep -nE '^.{81,}' out || fail "wider than 80 columns"

run "$PLATEAU" doctor --json
expect_code 0
python3 - out <<'PY'
import json, sys
answer = json.load(open(sys.argv[1]))
assert answer["ready"] is True, answer
names = [check["name"] for check in answer["checks"]]
assert names[0] == "memory" and len(set(names)) == len(names) == 12, names
for check in answer["checks"]:
    assert check["state"] in ("works", "limited", "missing") and check["text"], check
PY

# A Python that no census knows is named.
mkdir bin && touch bin/python3.99
PATH=$PWD/bin:$PATH run "$PLATEAU" doctor --json
expect_in out "3.99: not known"

run "$PLATEAU" doctor something
expect_code 2
