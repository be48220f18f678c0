#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job that forks its workers anew, as a DataLoader does at each epoch, is asked to save before its
# limit is far behind: not at once, because five processes map the same pages, and not never,
# because the parent's share of them was small while the workers lived.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

cat >job.py <<'PY'
import os, signal, sys, time
saved = False
def save(number, frame):
    global saved
    saved = True
signal.signal(signal.SIGUSR1, save)
data = bytearray(os.urandom(1 << 20)) * 120
kept = []
for epoch in range(6):
    workers = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            time.sleep(0.6)
            os._exit(0)
        workers.append(pid)
    for _ in range(15):
        kept.append(bytearray(b"x") * 2_000_000)
        time.sleep(0.05)
        if saved:
            print("kept", 2 * len(kept), flush=True)
            os._exit(0)
    for pid in workers:
        os.waitpid(pid, 0)
sys.exit(3)
PY

run "$PLATEAU" run -o job.plateau --limit 220MB --on-limit checkpoint --grace 5s -- python3 job.py
expect_code 0
expect_in err "to save (signal 10)"
kept=$(sed -n 's/^kept //p' out)
# 126 MB of data, Python's own 10 MB, and what was kept: 220 MB at about 84 MB kept.
[ "$kept" -ge 60 ] || fail "asked to save with only $kept MB kept"
[ "$kept" -le 110 ] || fail "asked to save only with $kept MB kept"
