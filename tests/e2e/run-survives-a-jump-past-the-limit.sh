#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job that jumps far past --limit between two samples is stopped by the kernel, in a cgroup of its
# own; the recording says so, and the cgroup is gone afterwards.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

cat >jump.py <<'PY'
import mmap, time
time.sleep(0.3)
hold = mmap.mmap(-1, 400_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, len(hold), 4096):
    hold[at] = 1
print("held it all", flush=True)
time.sleep(2)
PY
# Groups whose plateau is gone: other tests may be running theirs.
groups() {
  find /sys/fs/cgroup -maxdepth 8 -type d -name 'plateau-*' 2>/dev/null | sort | while read -r group; do
    [ -e "/proc/${group##*-}" ] || echo "$group"
  done
}
groups >before

run "$PLATEAU" run -o job.plateau --limit 150MB --on-limit stop --grace 1s --interval 10s -- python3 jump.py
! grep -q "sampling alone guards" err || skip "no cgroup may be made here: $(grep 'sampling alone' err)"
expect_code 137
expect_not_in out "held it all"
"$PLATEAU" dump job.plateau >dumped
expect_in dumped "OOM-killed"
expect_in err "OOM-killed by the kernel"
groups | cmp - before || fail "a cgroup was left behind: $(groups)"

# The same below a shell, which reports its child's death as exit code 137.
run "$PLATEAU" run -o shell.plateau --limit 150MB --on-limit stop --interval 10s -- \
  sh -c 'python3 jump.py; exit $?'
expect_code 137
expect_in err "OOM-killed by the kernel"
groups | cmp - before || fail "a cgroup was left behind: $(groups)"
