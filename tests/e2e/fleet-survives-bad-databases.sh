#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A database that refuses, lies, is slow, answers with 200 MB or dies in the middle: clear words, an exit
# code that tells, no crash, and everything that can be had is judged.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

database=
trap 'kill $database 2>/dev/null || true; wait; rm -rf "$SCRATCH"' EXIT
# against MODE [PODS] -- OPTION...: asks a database of that kind.
against() {
  local mode=$1 pods=$2
  shift 2
  kill "$database" 2>/dev/null || true
  rm -f address
  python3 "$SOURCE_DIR/tests/fleet/lying_database.py" "$mode" "$pods" >address 2>server.err &
  database=$!
  wait_until grep -q http address
  run timeout 120 "$PLATEAU" fleet --url "$(cat address)" --at 1793534400 "$@"
  expect_harmless err
}
judged() { tail -1 out | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["series_judged"], d["series_failed"])'; }
expect_judged() { [ "$(judged)" = "$1" ] || fail "$(judged) judged and failed instead of $1: $(tail -1 out)"; }

against honest 40 --json
expect_code 3  # One climbs, and nothing tells the load.
expect_judged "40 0"
expect_in out '"workload":"api3"'
for mode in too-much limited busy; do
  against "$mode" 40 --json
  expect_code 3
  expect_judged "40 0"
done
against warns 40
expect_code 3
expect_in out 'store-gateway 3 is down'
# One that has no idea of time: what it may tell is judged as ever, and the rest is spoken of.
against honest 40 --json
cp out honest.jsonl
against stale 40 --json
expect_code 3
expect_judged "40 0"
expect_in out 'outside the window'
python3 - <<'PY' || fail "$(cat out)"
import json
honest, stale = ([json.loads(line) for line in open(name)] for name in ("honest.jsonl", "out"))
assert honest[:-1] == stale[:-1], (honest[:-1], stale[:-1])
assert honest[-1]["samples"] == stale[-1]["samples"] and stale[-1]["partial"], stale[-1]
PY
against huge 4 --json
expect_code 3
expect_judged "4 0"
against slow 4 --json --timeout 1s
expect_code 3
expect_judged "4 0"

against refuses 40
expect_code 2
expect_one_line err
expect_in err 'status 401'
expect_in err '--bearer-file'
for mode in garbage truncated; do
  against "$mode" 4
  expect_code 2
  expect_one_line err
  expect_in err 'no JSON'
done
against dies 1000 --json
[ "$code" -eq 3 ] || [ "$code" -eq 2 ] || fail "exit code $code after the database died"
if [ "$code" -eq 3 ]; then
  expect_in out '"partial":true'
  [ "$(judged | awk '{print $1 + $2}')" -eq 1000 ] || fail "not everybody is accounted for: $(judged)"
fi
# Credentials come from files and the environment, and stand in no command line.
echo let-me-in >token
echo me:secret >user
against guarded 4 --json --tenant shop --bearer-file token
expect_judged "4 0"
against guarded 4 --json --tenant shop --basic-file user
expect_judged "4 0"
PLATEAU_FLEET_BEARER=let-me-in against guarded 4 --json --tenant shop
expect_judged "4 0"
against guarded 4 --json --bearer-file token
expect_code 2
expect_not_in err let-me-in
printf 'X-Scope-OrgID: shop\nAuthorization: Bearer let-me-in\n' >headers
against guarded 4 --json --header-file headers
expect_judged "4 0"

# Certificates, ours and theirs: shown where they are asked for, and whoever is a stranger is told.
issue() {  # NAME [OPTION...]: NAME.key, and NAME.crt of the authority ca.
  openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out "$1.crt" "${@:2}" 2>/dev/null
}
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority 2>/dev/null
issue client
issue server -extfile <(echo subjectAltName=IP:127.0.0.1)
cat server.crt server.key >server.pem
against sealed 4 --json --cert-file client.crt --key-file client.key --ca-file ca.pem
expect_judged "4 0"
against sealed 4 --json --ca-file ca.pem
expect_code 2
expect_one_line err
expect_in err certificate
against sealed 4 --json --cert-file client.crt --key-file client.key
expect_code 2
expect_one_line err
expect_in err certificate
against sealed 4 --json --cert-file client.crt --key-file ca.key --ca-file ca.pem
expect_code 2
expect_one_line err

# Nobody there at all.
run "$PLATEAU" fleet --url http://127.0.0.1:9
expect_code 2
expect_one_line err

# What cannot be asked is said in one line.
usage() {
  run "$PLATEAU" fleet "$@"
  expect_code 2
  expect_empty out
}
usage
expect_in err '--url'
usage --url http://user:secret@127.0.0.1:9
expect_in err '--basic-file'
expect_not_in err secret
usage --url http://127.0.0.1:9 --query 'sum(x)'
expect_in err 'selector'
usage --url http://127.0.0.1:9 --fdr 2
usage --url http://127.0.0.1:9 --window 5s
usage --url http://127.0.0.1:9 --listen 127.0.0.1:0
usage --url http://127.0.0.1:9 --bearer-file no-such-file
expect_in err 'no-such-file'
