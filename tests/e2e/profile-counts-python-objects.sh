#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# profile PID --objects counts a live Python from outside, by type; --again shows the type that
# grows first; the stop is announced and told; the process goes on as if nothing had happened.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

# Grows by one Sample (and the list in it) a line read: the test decides when.
cat >job.py <<'PY'
import sys
class Sample:
    def __init__(self, number):
        self.pixels = [number]
kept = [Sample(i) for i in range(500)]
still = [{"fixed": [i]} for i in range(300)]
print("ready", flush=True)
for line in sys.stdin:
    kept.extend(Sample(i) for i in range(int(line)))
    print(len(kept), flush=True)
PY
coproc JOB { exec /usr/bin/python3 job.py; }
job=$JOB_PID
trap 'kill "$job" 2>/dev/null; rm -rf "$SCRATCH"' EXIT
read -r said <&"${JOB[0]}"
[ "$said" = ready ] || fail "the job said $said"

run "$PLATEAU" profile "$job" --objects --max-stop 20s
expect_code 0
grep -q "stopping pid $job for at most 20000 ms" err || fail "no announcement: $(cat err)"
grep -Eq "^pid $job: CPython 3\.[0-9]+, .* objects of .* types; stopped .* ms" out || fail "$(cat out)"
grep -Eq '^ +500 .* __main__\.Sample$' out || fail "$(cat out)"

# The second count comes after the growth: the job is told to grow while plateau waits.
"$PLATEAU" profile "$job" --objects --again 3s --max-stop 20s --json >growth.json 2>announced &
counting=$!
until grep -q stopping announced; do sleep 0.05; done
sleep 1
echo 4000 >&"${JOB[1]}"
read -r said <&"${JOB[0]}"
[ "$said" = 4500 ] || fail "the job said $said"
wait "$counting" || fail "$(cat announced)"
python3 - <<'PY'
import json
growth = json.load(open("growth.json"))
by_type = {t["type"]: t for t in growth["types"]}
assert growth["seconds"] >= 3, growth["seconds"]
assert by_type["__main__.Sample"]["objects_grown"] == 4000, by_type["__main__.Sample"]
assert by_type["__main__.Sample"]["objects_before"] == 500
assert {t["type"] for t in growth["types"][:2]} == {"__main__.Sample", "list"}, growth["types"][:3]
assert abs(by_type["dict"]["objects_grown"]) < 20, by_type["dict"]
PY

# A program that is no Python is refused with the reason, and lives.
sleep 60 &
other=$!
run "$PLATEAU" profile "$other" --objects
expect_code 2
expect_one_line err
grep -q "cannot be read: it is no CPython" err || fail "$(cat err)"
kill "$other" || fail "the refused process is gone"

# The job still answers.
echo 1 >&"${JOB[1]}"
read -r said <&"${JOB[0]}"
[ "$said" = 4501 ] || fail "the job said $said"
