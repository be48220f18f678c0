#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --limit: warn lets the job go on; checkpoint asks it to save, whatever it does about that; stop
# ends it, by force if need be; --restart starts it again with a recording of its own each time.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# Grows by 10 MB every 20 ms to 130 MB, which is below the backstop of a limit of 100 MB (164 MB),
# then waits. What it does about signals comes as arguments.
cat >job.py <<'PY'
import os, signal, sys, time
def save(number, frame):
    open("saved", "a").write("saved\n")
    if "go-on" not in sys.argv:
        sys.exit(0)
if "handles" in sys.argv:
    signal.signal(signal.SIGUSR1, save)
if "ignores-term" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
hold = []
for i in range(13):
    hold.append(bytearray(b"x") * 10_000_000)
    time.sleep(0.02)
time.sleep(1 if "ends" in sys.argv else 60)
sys.exit(3)
PY

run "$PLATEAU" run -o warn.plateau --limit 100MB -- python3 job.py ends
expect_code 3
expect_in err "with a limit of 100 MB: the job goes on"
[ "$(grep -c 'the job goes on' err)" -eq 1 ] || fail "warned more than once: $(cat err)"
"$PLATEAU" dump --records warn.plateau >dumped
expect_in dumped "the job goes on"
expect_in dumped "limit_mb 100"

limited() { run "$PLATEAU" run --force -o job.plateau --limit 100MB --grace 1s "$@"; }

limited --on-limit checkpoint -- python3 job.py handles
expect_code 0
expect_in err "to save (signal 10)"
expect_in saved "saved"
"$PLATEAU" dump job.plateau >dumped
expect_in dumped "ended by --on-limit"

rm saved
limited --on-limit checkpoint -- python3 job.py handles go-on
expect_code 143
expect_in saved "saved"
expect_in err "to save (signal 10)"
expect_in err "asked the job to end (SIGTERM)"

rm saved
limited --on-limit checkpoint -- python3 job.py
expect_code 143
expect_not_in err "to save"
expect_in err "asked the job to end (SIGTERM)"

limited --on-limit checkpoint --save-signal USR2 -- python3 job.py handles
expect_code 143
[ ! -e saved ] || fail "the wrong signal was sent"

limited --on-limit stop -- python3 job.py
expect_code 143
expect_in err "asked the job to end (SIGTERM)"
expect_not_in err "SIGKILL"

limited --on-limit stop -- python3 job.py ignores-term
expect_code 137
expect_in err "ended the job (SIGKILL)"

# A wrapper around the job changes nothing: who does the work is asked.
limited --on-limit checkpoint -- sh -c 'python3 job.py handles; echo "sh saw $?"'
expect_code 0
expect_in out "sh saw 0"
expect_in saved "saved"

# A job that resumes: each attempt adds some, saves at the limit and is started again.
cat >resume.py <<'PY'
import os, signal, sys, time
done = int(open("progress").read()) if os.path.exists("progress") else 0
def save(number, frame):
    open("progress", "w").write(str(done + 1))
    sys.exit(0)
signal.signal(signal.SIGUSR1, save)
print("from", done, flush=True)
if done == 2:
    sys.exit(6)
hold = []
while True:
    if len(hold) < 13:
        hold.append(bytearray(b"x") * 10_000_000)
    time.sleep(0.02)
PY
run "$PLATEAU" run -o again.plateau --limit 100MB --on-limit checkpoint --restart 2 -- python3 resume.py
expect_code 6
[ "$(cat out)" = "$(printf 'from %d\n' 0 1 2)" ] || fail "it went: $(cat out)"
expect_in err "restarting it (1 of 2)"
expect_in err "restarting it (2 of 2)"
for name in again.plateau again.2.plateau again.3.plateau; do
  "$PLATEAU" dump "$name" >dumped || fail "$name cannot be read"
done
expect_in dumped "exited with code 6"

# Restarts run out, and a job that is well is not started again.
run "$PLATEAU" run -q -o failing.plateau --restart 2 -- sh -c 'echo try; exit 4'
expect_code 4
[ "$(wc -l <out)" -eq 3 ] || fail "tried $(wc -l <out) times instead of 3"
run "$PLATEAU" run -q --no-recording --restart 2 -- sh -c 'echo try'
expect_code 0
[ "$(wc -l <out)" -eq 1 ] || fail "a job that ended well was started again"
