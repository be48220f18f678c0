#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The machine's clock is set back by an hour while a job is watched: the recording stays readable, goes
# forward, lasts as long as the job did, and its rate is right.
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

# Two seconds after a process has started, its wall clock jumps back by an hour; CLOCK_MONOTONIC goes on.
cat >back.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
typedef int (*Clock)(clockid_t, struct timespec *);
static long started;
static int real(clockid_t id, struct timespec *now) {
  static Clock next;
  if (next == 0) next = (Clock)dlsym(RTLD_NEXT, "clock_gettime");
  return next(id, now);
}
static long shift(void) {
  struct timespec now;
  real(CLOCK_MONOTONIC, &now);
  if (started == 0) started = now.tv_sec;
  return now.tv_sec - started >= 2 ? 3600 : 0;
}
int clock_gettime(clockid_t id, struct timespec *now) {
  const int done = real(id, now);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) now->tv_sec -= shift();
  return done;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != 0) *to = now.tv_sec;
  return now.tv_sec;
}
C
cc -shared -fPIC -O1 -o back.so back.c -ldl || skip "no C compiler"

cat >job.py <<'PY'
# 1 MB a step, 20 steps a second, as a clock that nobody sets has it; says whether its own went back.
import os, time
held = []
began, wall = time.monotonic(), time.time()
back = False
for step in range(120):
    held.append(os.urandom(1000) * 1000)
    back = back or time.time() < wall
    os.write(1, b"Step %d: loss 0.1\n" % step)
    time.sleep(max(0, began + (step + 1) * 0.05 - time.monotonic()))
os.write(1, b"back %d, took %.1f\n" % (back, time.monotonic() - began))
PY
export LD_PRELOAD=$PWD/back.so
run "$PLATEAU" run -o job.plateau --interval 0.1 -- python3 job.py
unset LD_PRELOAD
expect_code 0
expect_in out 'back 1'
took=$(sed -n 's/.*took //p' out)
run "$PLATEAU" judge --json job.plateau
[ "$code" -ne 2 ] || fail "the recording cannot be judged: $(cat err)"
python3 - "$took" out <<'PY' || fail "the rate is not that of the job: $(cat out)"
import json, sys
growth = json.load(open(sys.argv[2]))["growth"]
sys.exit(not 0.8 < growth["rate_mb_per_step"] < 1.2)
PY
run "$PLATEAU" convert job.plateau
expect_code 0
python3 - "$took" out <<'PY' || fail "its times are not those of the job"
import csv, sys
times = [float(row["t_s"]) for row in csv.DictReader(open(sys.argv[2])) if row["t_s"]]
assert times == sorted(times), "time goes back"
lasted = times[-1] - times[0]
assert abs(lasted - float(sys.argv[1])) < 1.5, (lasted, sys.argv[1])
PY
