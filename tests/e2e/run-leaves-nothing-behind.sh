#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Processes that outlive the job are ended, however they were detached; --keep-orphans leaves them.
# shellcheck disable=SC2016 # What is quoted is for another shell to expand.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

cat >daemon.py <<'PY'
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if "stubborn" in sys.argv:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            open("grandchild", "w").write(str(os.getpid()))
        else:
            open("daemon", "w").write(str(os.getpid()))
        time.sleep(120)
    os._exit(0)
while not (os.path.exists("daemon") and os.path.exists("grandchild")):
    time.sleep(0.02)
sys.exit(5)
PY

run "$PLATEAU" run -o job.plateau -- python3 daemon.py
expect_code 5
gone "$(cat daemon)" || fail "the daemon is still there"
gone "$(cat grandchild)" || fail "the daemon's child is still there"
expect_in err "outlived the job"
"$PLATEAU" dump --records job.plateau >dumped
expect_in dumped "outlived the job"

rm daemon grandchild
run "$PLATEAU" run --no-recording -- python3 daemon.py stubborn
expect_code 5
gone "$(cat daemon)" || fail "a daemon that ignores SIGTERM is still there"
gone "$(cat grandchild)" || fail "its child is still there"

rm daemon grandchild
run "$PLATEAU" run --no-recording --keep-orphans -- python3 daemon.py
expect_code 5
kept=0
if ! gone "$(cat daemon)" && ! gone "$(cat grandchild)"; then kept=1; fi
kill -9 "$(cat daemon)" "$(cat grandchild)" 2>/dev/null || true
[ "$kept" -eq 1 ] || fail "--keep-orphans ended them"
expect_not_in err "outlived"

# A helper that ends by itself right after the job is nothing to report.
run "$PLATEAU" run --no-recording -- sh -c '(sleep 0.2; exit 0) & exit 0'
expect_code 0
expect_not_in err "outlived"

# Neither sockets nor relays stay.
sleep 0.2
export XDG_RUNTIME_DIR=$SCRATCH/runtime
mkdir -m 700 runtime
run "$PLATEAU" run -q --no-recording -- sh -c 'echo $PLATEAU_SOCKET'
expect_in out "$SCRATCH/runtime/plateau-"
[ -z "$(ls runtime)" ] || fail "left in the runtime directory: $(ls runtime)"
