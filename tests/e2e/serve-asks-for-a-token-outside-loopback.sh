#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Listening where others can reach it makes a token up, prints it in the address, and answers nobody
# without it.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

flat_log 60 >a.log
env -u PLATEAU_TOKEN "$PLATEAU" serve a.log --listen 0.0.0.0:0 >address 2>serve.err &
server=$!
# shellcheck disable=SC2064
trap "kill $server 2>/dev/null || true; wait; rm -rf '$SCRATCH'" EXIT
wait_until grep -q 'token=' address
token=$(sed 's/.*token=//' address)
[ "${#token}" -eq 32 ] || fail "the token is '$token'"
port=$(sed 's/.*:\([0-9]*\)\/.*/\1/' address)
base=http://127.0.0.1:$port
code() { curl -s -o body -w '%{http_code}' "$@"; }
for path in / /api/runs /api/page /api/verdict /events /metrics '/?token=wrong'; do
  [ "$(code "$base$path")" = 401 ] || fail "$path answered without a token: $(head -c 300 body)"
  expect_not_in body "$token"
done
[ "$(code "$base/healthz")" = 200 ] || fail "healthz needs no token"
[ "$(code -H "Authorization: Bearer $token" "$base/api/verdict")" = 200 ] || fail "bearer"
expect_in body '"verdict":"plateau"'
[ "$(code -c jar "$base/?token=$token")" = 200 ] || fail "token in the address"
[ "$(code -b jar "$base/api/runs")" = 200 ] || fail "cookie"

# A token that cannot stand in an address, and one from the environment on loopback.
run "$PLATEAU" serve a.log --listen 127.0.0.1:0 --token 'a b'
expect_code 2
expect_one_line err
PLATEAU_TOKEN=from-the-environment "$PLATEAU" serve a.log --listen 127.0.0.1:0 >second 2>&1 &
second=$!
wait_until grep -q 'token=from-the-environment' second
[ "$(code "$(sed 's/?.*//' second)api/runs")" = 401 ] || fail "the variable is ignored"
kill "$second"
wait "$second" || fail "SIGTERM is a good end"
