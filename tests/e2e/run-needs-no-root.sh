#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An unprivileged user in a directory of their own gets everything but other people's processes,
# and what cannot be read is said once.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

as_user=()
if [ "$(id -u)" -eq 0 ]; then
  command -v setpriv >/dev/null || { echo "SKIPPED: no setpriv to leave root with"; exit 0; }
  as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  "${as_user[@]}" true 2>/dev/null || { echo "SKIPPED: setpriv may not change the user"; exit 0; }
fi
# The user must be able to reach the program and a python; a copy does that for the former.
chmod 711 "$SCRATCH"
install -m 755 "$PLATEAU" ./plateau
mkdir -m 777 open
cd open
python=$(PATH=/usr/bin:/bin command -v python3) || { echo "SKIPPED: no system python3"; exit 0; }
unset XDG_RUNTIME_DIR

run "${as_user[@]}" ../plateau run -o job.plateau -- "$python" -c '
import os, time
hold = []
for step in range(1, 41):
    hold.append(bytearray(b"x") * 1000000)
    print("Step %d" % step, flush=True)
    time.sleep(0.03)
print("uid", os.getuid())'
expect_code 0
[ "$(id -u)" -ne 0 ] || expect_in out "uid 65534"
expect_in err "samples in"
run "${as_user[@]}" ../plateau dump job.plateau
expect_code 0
expect_in out "exited with code 0"
expect_in out "pss"

# The limit works without a cgroup, and that there is none is one line.
run "${as_user[@]}" ../plateau run --no-recording --limit 50MB --on-limit stop --grace 1s -- "$python" -c '
import time
hold = []
for step in range(100):
    hold.append(bytearray(b"x") * 2000000)
    time.sleep(0.03)'
expect_code 143
[ "$(grep -c 'sampling alone guards' err)" -le 1 ] || fail "said more than once: $(cat err)"

# A process of somebody else in the job's tree cannot be read in full: said once.
[ "$(id -u)" -eq 0 ] || exit 0
install -m 4755 /usr/bin/sleep ../sleep-as-root
"${as_user[@]}" ../sleep-as-root 5 &
sleep 0.3
uid=$(awk '/^Uid/ {print $3}' "/proc/$!/status")
kill $!
[ "$uid" -eq 0 ] || { echo "SKIPPED the rest: set-uid programs do not work here"; exit 0; }
run "${as_user[@]}" ../plateau run -o mixed.plateau -- sh -c '../sleep-as-root 1.5; exit 4'
expect_code 4
[ "$(grep -c 'smaps_rollup: permission denied' err)" -eq 1 ] || fail "not said once: $(cat err)"
[ -z "$(grep 'permission denied' err | sort | uniq -d)" ] || fail "said twice: $(cat err)"
