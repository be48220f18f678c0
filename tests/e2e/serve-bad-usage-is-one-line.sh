#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be served is told in one line, with exit code 2; a taken port with what to try.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

flat_log 60 >a.log
for words in 'missing.plateau' 'a.log --listen example.org:80' 'a.log --listen 127.0.0.1:99999' \
  '/dev/null' '4194303' 'a.log --listen 127.0.0.1:1x'; do
  # shellcheck disable=SC2086
  run "$PLATEAU" serve $words
  expect_code 2
  expect_one_line err
  expect_empty out
  expect_harmless err
done

"$PLATEAU" serve a.log --listen 127.0.0.1:0 >address 2>serve.err &
server=$!
# shellcheck disable=SC2064
trap "kill $server 2>/dev/null || true; wait; rm -rf '$SCRATCH'" EXIT
wait_until grep -q http address
port=$(sed 's/.*:\([0-9]*\)\/.*/\1/' address)
run "$PLATEAU" serve a.log --listen "127.0.0.1:$port"
expect_code 2
expect_in err 'in use'
expect_in err '--listen'

run "$PLATEAU" run --serve --no-recording -- true
expect_code 2
expect_one_line err
run "$PLATEAU" run --serve="127.0.0.1:$port" -o never.plateau -- touch ran
expect_code 2
expect_one_line err
[ ! -e ran ] || fail "the job ran although its page could not be served"
[ ! -e never.plateau ] || fail "a recording was left behind"
run "$PLATEAU" serve --help
expect_code 0
expect_in out '/metrics'
