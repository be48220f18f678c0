#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of plateau: the job goes on to its natural end with its output complete, and the recording
# up to there is readable and says that the ending is unknown.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

cat >job.py <<'PY'
import os, time
os.write(1, b"begin\n")
while not os.path.exists("go"):
    time.sleep(0.02)
for i in range(200000):
    os.write(1, b"line %d\n" % i)
os.write(2, b"job done\n")
open("ended", "w").close()
PY
{ echo begin; for ((i = 0; i < 200000; i++)); do echo "line $i"; done; } >wanted

killed() {
  wait_until grep -q begin output
  sleep 1.2
  kill -9 "$(cat pid)"
  wait_until gone "$(cat pid)"
  touch go
  wait_until test -e ended
  wait_until grep -q 'line 199999' output
  cmp output wanted || fail "the output is not complete ($1)"
  wait_until grep -q 'job done' err
  run "$PLATEAU" dump job.plateau
  expect_code 0
  expect_in out "its writer was killed"
  expect_not_in out "exited"
  run "$PLATEAU" judge --json job.plateau
  expect_in out '"verdict"'
}

# Into a file. The shell that says its pid becomes plateau.
sh -c 'echo $$ >pid; exec "$0" run -o job.plateau -- python3 job.py' "$PLATEAU" >output 2>err &
killed "into a file"
wait || true
rm -f go ended output pid job.plateau

# Through a pipe.
touch output
sh -c 'echo $$ >pid; exec "$0" run -o job.plateau -- python3 job.py' "$PLATEAU" 2>err | cat >output &
killed "through a pipe"
wait || true
