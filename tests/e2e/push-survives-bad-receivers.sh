#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A receiver that is slow, refuses, is busy, never ends its answer or hangs up: the job is not held up, its
# exit code is its own, each trouble is told once, and what may still be taken waits in the spool.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"
export no_proxy='*'
receiver=
trap 'kill $receiver 2>/dev/null || true; wait; rm -rf "$SCRATCH"' EXIT

# receive MODE [PORT]: starts one; its address is in $url.
receive() {
  kill "$receiver" 2>/dev/null || true
  rm -f address
  : >log
  python3 "$SOURCE_DIR/tests/stand_in/push_receiver.py" "$1" log "${@:2}" >address 2>receiver.err &
  receiver=$!
  wait_until grep -q http address
  url=$(cat address)
}
# push SECONDS OPTION...: a job of that length that exits with 7; how long all of it took is in $took.
push() {
  local begin=$EPOCHREALTIME
  run "$PLATEAU" run --no-recording -q --push "$url" --push-spool spool --push-every 0.3s --push-farewell 3s "${@:2}" -- \
    python3 -c "import time; time.sleep($1); exit(7)"
  took=$(python3 -c "print($EPOCHREALTIME - $begin)")
  expect_code 7
  expect_harmless err
  expect_empty receiver.err
}
took_less() { python3 -c "exit(not $took < $1)" || fail "$took s, not less than $1 s: $(cat err)"; }
said() { [ "$(grep -cF -- "$1" err)" -eq "$2" ] || fail "'$1' is not said $2 times: $(cat err)"; }
# told: how many samples of the job's memory were logged as taken, each once.
told() {
  python3 - <<'PY'
import json
times = [s[2] for line in map(json.loads, open("log")) if line["status"] == 204
         for s in line["series"] if s[0]["__name__"] == "plateau_owned_memory_bytes"]
assert times == sorted(set(times)), times
print(len(times))
PY
}

receive honest
push 2.5
took_less 6
[ "$(told)" -ge 5 ] || fail "$(told) samples: $(cat err)"
[ -z "$(find spool -name '*.seg')" ] || fail "something stayed: $(find spool)"
python3 - <<'PY'
import json
series = [s for line in map(json.loads, open("log")) for s in line["series"]]
names = {s[0]["__name__"] for s in series}
wanted = {"plateau_owned_memory_bytes", "plateau_memory_bytes", "plateau_verdict", "plateau_run_info", "plateau_run_live",
          "plateau_process_memory_bytes", "plateau_samples"}
assert wanted <= names, wanted - names
assert all(s[0]["job"] == "plateau" and s[0]["instance"] == s[0]["node"] and s[0]["run"].startswith("python3-") for s in series)
assert not any("pid" in s[0] for s in series)
assert json.loads(open("log").readlines()[0])["path"] == "/api/v1/write"
live = [s[1] for s in series if s[0]["__name__"] == "plateau_run_live"]
assert live[-1] == 0 and set(live[:-1]) == {1}, live
PY

# The process that sends is killed: the job is not, and another one brings what is left.
: >log
"$PLATEAU" run --no-recording -q --push "$url" --push-spool spool --push-every 0.3s -- sleep 3 >out 2>err &
watcher=$!
wait_until test -s log
sender=$(pgrep -P "$watcher" -x plateau-push) || fail "nobody pushes"
kill -9 "$sender"
code=0
wait "$watcher" || code=$?
expect_code 0
said 'the process that sends has ended' 1
tail -1 log | grep -q '"plateau_run_live", [^]]*}, 0.0' || fail "the end was not told: $(cat err)"
[ -z "$(find spool -name '*.seg')" ] || fail "something stayed: $(find spool)"

# What is refused for good is told once a status, and nothing is kept.
receive status-400
push 1.5
took_less 5
said 'answers with status 400 (no: out of order)' 1
said 'samples were refused for good' 1
[ -z "$(find spool -name '*.seg')" ] || fail "something stayed"
receive redirects
push 1
said 'leads elsewhere' 1

# A pause that is asked for is kept, and then all of it comes.
receive busy
push 3
[ "$(told)" -ge 5 ] || fail "$(told) samples: $(cat err)"
python3 - <<'PY'
import json
at = [(line["at"], line["status"]) for line in map(json.loads, open("log"))]
assert [s for _, s in at[:3]] == [429, 429, 204], at
assert at[1][0] - at[0][0] >= 1.9 and at[2][0] - at[1][0] >= 1.9, at
PY
said 'takes samples again' 1

# Nobody there, or nobody who can be understood: the job is not held up, and its samples wait.
receive status-503
push 1
took_less 8
said 'answers with status 503' 1
said 'samples wait in' 2
for mode in slow closes endless; do
  receive "$mode"
  push 0.5 --push-farewell 1s
  took_less 6
  said 'samples wait in' "$([ "$mode" = slow ] && echo 1 || echo 2)"
done
# The next run to the same address brings all that waits: here a receiver that lives at the same port.
kill "$receiver"
wait "$receiver" 2>/dev/null || true
waiting=$(find spool -name '*.seg' | wc -l)
[ "$waiting" -ge 1 ] || fail "nothing waits"
receive honest "${url##*:}"
push 0.5
[ "$(told)" -ge 2 ] || fail "$(told) samples: $(cat err)"

# Credentials come from files and the environment, and the job does not see them.
echo let-me-in >token
receive guarded
push 0.5 --push-bearer-file token
expect_not_in err 401
PLATEAU_PUSH_BEARER=let-me-in push 0.5
expect_not_in err 401
push 0.5
said 'answers with status 401' 1
expect_not_in err let-me-in

# What cannot be asked is one line.
usage() {
  run "$PLATEAU" run "$@" -- true
  expect_code 2
  expect_empty out
}
usage --push http://me:secret@127.0.0.1:9
expect_in err '--push-basic-file'
expect_not_in err secret
usage --push gopher://x
usage --textfile /no/such/place/a.prom
expect_in err 'cannot write in /no/such/place'
usage --push-every 5s
expect_in err 'goes with --push'
usage --push http://127.0.0.1:9 --push-labels 'a b=c'
usage --push http://127.0.0.1:9 --push-labels 'run=c'
usage --push http://127.0.0.1:9 --push-spool /dev/null/x
expect_in err '--push-spool'
usage --push http://127.0.0.1:9 --push-spool-size 1kB
usage --push http://127.0.0.1:9 --push-farewell 1h
usage --textfile figures.txt
expect_in err '.prom'
