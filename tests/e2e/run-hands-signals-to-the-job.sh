#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A signal sent to plateau reaches the job's handler once, and the job's answer is plateau's.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

cat >job.py <<'PY'
import os, signal, sys, time
def handler(number, frame):
    with open("heard", "a") as out:
        out.write("%d\n" % number)
    if number not in (signal.SIGUSR1, signal.SIGUSR2):
        sys.exit(40 + number)
for name in ("TERM", "INT", "HUP", "QUIT", "USR1", "USR2"):
    signal.signal(getattr(signal, "SIG" + name), handler)
open("ready", "w").close()
time.sleep(60)
PY

# A background job of a script begins with SIGINT ignored, so that the job sets its own handler
# for all of them; what it hears shows in the file heard.
for name in TERM INT HUP QUIT; do
  rm -f ready heard
  "$PLATEAU" run -q --no-recording -- python3 job.py 2>err &
  wait_until test -e ready
  kill -"$name" $!
  code=0
  wait $! || code=$?
  number=$(kill -l "$name")
  [ "$(cat heard)" = "$number" ] || fail "$name: the job heard '$(cat heard)'"
  [ "$code" -eq $((40 + number)) ] || fail "$name: exit code $code: $(cat err)"
done

# USR1 and USR2 go to the process that was started: its helpers would die of them.
cat >parent.py <<'PY'
import signal, subprocess, sys, time
child = subprocess.Popen(["sleep", "60"])
def handler(number, frame):
    time.sleep(0.3)
    sys.exit(7 if child.poll() is None else 8)
signal.signal(signal.SIGUSR1, handler)
open("ready", "w").close()
time.sleep(60)
PY
rm -f ready
"$PLATEAU" run -q --no-recording -- python3 parent.py 2>err &
wait_until test -e ready
kill -USR1 $!
code=0
wait $! || code=$?
[ "$code" -eq 7 ] || fail "USR1: exit code $code instead of 7 (8: it hit the helper, too)"

# nohup stays: what the caller ignores is ignored in the job.
"$PLATEAU" run -q --no-recording -- sh -c 'grep SigIgn /proc/self/status' >plain 2>err
(trap '' HUP; "$PLATEAU" run -q --no-recording -- sh -c 'grep SigIgn /proc/self/status') >ignored 2>err
[ $((0x$(cut -f2 ignored) & 1)) -eq 1 ] || fail "an ignored SIGHUP is not ignored in the job"
[ $((0x$(cut -f2 plain) & 0x1000)) -eq 0 ] || fail "SIGPIPE is ignored in the job"

# A job that was asked to end is not started again.
rm -f ready heard
"$PLATEAU" run -q --no-recording --restart 5 -- python3 job.py 2>err &
wait_until test -e ready
kill -TERM $!
code=0
wait $! || code=$?
[ "$code" -eq 55 ] || fail "exit code $code instead of 55"
expect_not_in err "again"
