#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An unprivileged user in a directory of their own gets everything but other people's processes.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/unprivileged.sh
. "$SOURCE_DIR/tests/unprivileged.sh"
python=$(PATH=/usr/bin:/bin command -v python3) || skip "no system python3"
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
