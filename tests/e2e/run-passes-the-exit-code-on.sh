#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The job's exit code is plateau's; death by signal n is 128 + n, and the recording knows.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

for wanted in 0 1 2 3 42 126 127 128 200 255; do
  run "$PLATEAU" run -q -o "$wanted.plateau" -- sh -c "exit $wanted"
  expect_code "$wanted"
  "$PLATEAU" dump "$wanted.plateau" >dumped
  expect_in dumped "exited with code $wanted"
done
for number in 1 2 6 9 10 11 15; do
  run "$PLATEAU" run -q -o "s$number.plateau" -- sh -c "kill -$number \$\$"
  expect_code $((128 + number))
  "$PLATEAU" dump "s$number.plateau" >dumped
  expect_in dumped "signal $number"
done

# Jobs too short for a sample are no different.
for _ in $(seq 20); do
  run "$PLATEAU" run -q --no-recording -- true
  expect_code 0
done

# Killed from outside while it runs.
"$PLATEAU" run -q -o killed.plateau -- sh -c 'echo $$ >pid; exec sleep 60' 2>err &
wait_until test -s pid
kill -9 "$(cat pid)"
code=0
wait $! || code=$?
[ "$code" -eq 137 ] || fail "exit code $code instead of 137 after SIGKILL"
"$PLATEAU" dump killed.plateau >dumped
expect_in dumped "signal 9"
expect_not_in dumped "OOM-killed"
