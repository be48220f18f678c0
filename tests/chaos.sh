#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever is killed, stopped, full or used up: no job is hurt, no recording is unreadable, and of what
# was recorded at most the last second is missing.
#
#   PLATEAU=$PWD/build/release/plateau SOURCE_DIR=$PWD bash tests/chaos.sh [ROUNDS [SCENARIO...]]
#
# Each round runs a job under plateau, on a machine that is kept busy, and at a random moment of it does
# one thing to it: kill -9 of plateau (also while it starts, and while it ends), of the relay, of the heap's
# keeper, of the server or of the job; SIGSTOP and SIGCONT of plateau; no more memory or descriptors for it;
# a full disk; a full /dev/shm; a thousand processes a second; hardly any descriptors from the start.
# One round of each is a test (e2e/chaos-hurts-nobody.sh). AT_ONCE=4 runs four rounds side by side: a round
# is mostly waiting, and they are in each other's way, as they should be. SEED=N repeats the moments of an
# earlier run with the same AT_ONCE.
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

rounds=${1:-100}
shift || true
: "${SEED:=$RANDOM}" "${AT_ONCE:=1}"
steps=250  # Two and a half seconds at least.

cat >job.py <<'PY'
# Says a line for each of its steps, holds 100 kB of each, and ends with what it counted.
import os, sys, time
held = []
os.write(1, b"begun\n")
for step in range(int(sys.argv[1])):
    held.append(bytearray(os.urandom(1000)) * 100)
    os.write(1, b"Step %d: loss 0.1\n" % step)
    time.sleep(0.01)
os.write(1, b"done %d\n" % sum(len(block) for block in held))
PY
cat >spawn.py <<'PY'
# As many processes as it can start in two seconds, and how many of them did not end well.
import os, time
end = time.monotonic() + 2
started = bad = 0
while time.monotonic() < end:
    pids = [os.posix_spawn("/bin/true", ["true"], {}) for _ in range(20)]
    started += len(pids)
    bad += sum(os.waitpid(pid, 0)[1] != 0 for pid in pids)
os.write(1, b"started %d, bad %d\n" % (started, bad))
PY
(while :; do :; done) &
hog=$!
trap 'kill $hog ${workers[@]:-} 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT

# launch OPTION...: the job under plateau in the background; $watcher is plateau's pid.
launch() {
  rm -f job.plateau output err pid
  sh -c 'echo $$ >pid; exec "$0" run "$@"' "$PLATEAU" -o job.plateau "$@" -- python3 job.py $steps >output 2>err &
  shell=$!
  wait_until test -s pid
  watcher=$(cat pid)
}
start() {
  launch "$@"
  wait_until grep -q 'Step 0' output
}
# a_moment [MS]: up to a second, which the job outlasts, or that many milliseconds.
a_moment() { sleep "0.$(printf %03d $((RANDOM % ${1:-1000})))"; }
child_called() { pgrep -P "$watcher" -x "$1" | head -1; }
the_end() {
  ended=0
  wait "$shell" || ended=$?
}

job_is_unhurt() {
  wait_until grep -q '^done ' output
  grep -q "^done $((steps * 100000))$" output || fail "$1: the job counted wrong: $(tail -1 output)"
  # A relay that is killed may take what it had read with it.
  [ "$1" = relay ] || [ "$(grep -c '^Step ' output)" -eq "$steps" ] || fail "$1: lines of the job are missing"
}
recording_is_readable() {
  run "$PLATEAU" judge --json job.plateau
  [ "$code" -ne 2 ] || fail "$1: the recording cannot be judged: $(cat err)"
  expect_in out '"verdict"'
  run "$PLATEAU" dump job.plateau
  expect_code 0
}
# nothing_missing WHEN: the last sample is at most a second older than that moment.
nothing_missing() {
  "$PLATEAU" dump --records --json job.plateau 2>/dev/null >records || "$PLATEAU" dump --json job.plateau >records
  python3 - "$1" <<'PY' || fail "more than the last second is missing"
import json, sys
start = last = None
for line in open("records"):
    record = json.loads(line)
    if record.get("type") == "head": start = record["started_unix_s"]
    if record.get("type") == "sample": last = record["time_s"]
late = float(sys.argv[1]) - (start + last)
sys.exit(f"{late:.2f} s" if late > 1 else 0)
PY
}

scenario_plateau() {
  start
  a_moment
  kill -9 "$watcher"
  local when
  when=$(date +%s.%N)
  job_is_unhurt plateau
  the_end
  recording_is_readable plateau
  nothing_missing "$when"
}
# Where the job has not begun there is nobody to hurt, and the recording may be an empty file.
scenario_early() {
  launch
  a_moment 250
  kill -9 "$watcher"
  the_end
  sleep 0.3
  if grep -q begun output; then
    job_is_unhurt early
    run "$PLATEAU" dump job.plateau
    expect_code 0
  else
    [ ! -s job.plateau ] || "$PLATEAU" dump job.plateau >out 2>err || fail "early: $(cat err)"
  fi
}
scenario_late() {
  start
  wait_until grep -q '^done' output
  a_moment 300
  kill -9 "$watcher" 2>/dev/null || true
  job_is_unhurt late
  the_end
  recording_is_readable late
}
scenario_memory() {
  start
  a_moment
  # What it has mapped now, and 64 kB more.
  prlimit --pid "$watcher" --as=$(($(awk '/^VmSize/ { print $2 }' "/proc/$watcher/status") * 1024 + 65536))
  job_is_unhurt memory
  the_end
  recording_is_readable memory
}
scenario_handles() {
  start
  a_moment
  prlimit --pid "$watcher" --nofile=3
  job_is_unhurt handles
  the_end
  [ "$ended" -eq 0 ] || fail "handles: the job ended with $ended: $(tail -3 err)"
  recording_is_readable handles
}
# one_dies WHO PROCESS [OPTION...]: that child of plateau is killed at some moment; neither the job nor the recording minds.
one_dies() {
  local who=$1 process=$2 child
  shift 2
  start "$@"
  child=$(child_called "$process")
  [ -n "$child" ] || fail "$who: there is none: $(pgrep -P "$watcher" -l)"
  a_moment
  kill -9 "$child"
  job_is_unhurt "$who"
  the_end
  [ "$ended" -eq 0 ] || fail "$who: the job ended with $ended: $(tail -3 err)"
  recording_is_readable "$who"
}
scenario_relay() { one_dies relay plateau-relay; }
scenario_keeper() { one_dies keeper plateau-heap --heap; }
scenario_server() { one_dies server plateau-serve --serve; }
scenario_job() {
  start
  a_moment
  kill -9 "$(child_called python3)"
  the_end
  [ "$ended" -eq 137 ] || fail "job: exit code $ended instead of 137"
  recording_is_readable job
  expect_in out "signal 9"
}
scenario_stop() {
  start
  a_moment
  kill -STOP "$watcher"
  local before after
  before=$(grep -c '^Step ' output)
  sleep 1
  after=$(grep -c '^Step ' output)
  kill -CONT "$watcher"
  [ "$after" -gt "$before" ] || grep -q '^done' output || fail "stop: the job waited for plateau"
  job_is_unhurt stop
  the_end
  [ "$ended" -eq 0 ] || fail "stop: the job ended with $ended"
  recording_is_readable stop
}
# can_fill WHAT: that takes a mount namespace of its own, which only root may make.
can_fill() {
  if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then return 0; fi
  echo "only root can make $1 full"
  return 1
}
scenario_disk() {
  can_fill "a disk" || return 0
  local steps=400  # A page of samples, on a slow machine too.
  mkdir -p small
  rm -f output err
  # shellcheck disable=SC2016
  unshare -m sh -c 'mount -t tmpfs -o size=4k tmpfs small && "$0" run --interval 0.01s -o small/job.plateau -- python3 job.py '$steps' >output 2>err; echo $? >ended; cp small/job.plateau .' "$PLATEAU"
  [ "$(cat ended)" -eq 0 ] || fail "disk: the job ended with $(cat ended): $(tail -3 err)"
  expect_in err "no longer written"
  job_is_unhurt disk
  recording_is_readable disk
}
scenario_shm() {
  can_fill "/dev/shm" || return 0
  rm -f output err job.plateau
  # shellcheck disable=SC2016
  unshare -m sh -c 'mount -t tmpfs -o size=64k tmpfs /dev/shm && "$0" run --heap -o job.plateau -- python3 job.py '$steps' >output 2>err; echo $? >ended' "$PLATEAU"
  [ "$(cat ended)" -eq 0 ] || fail "shm: the job ended with $(cat ended): $(tail -3 err)"
  job_is_unhurt shm
  recording_is_readable shm
}
scenario_processes() {
  rm -f job.plateau
  run "$PLATEAU" run -o job.plateau -- sh -c 'python3 spawn.py & python3 spawn.py; wait'
  expect_code 0
  [ "$(grep -c 'bad 0$' out)" -eq 2 ] || fail "processes: some were hurt: $(cat out)"
  recording_is_readable processes
}
scenario_descriptors() {
  rm -f job.plateau
  # Some twenty to itself, whatever whoever called this has left open.
  local open=(/proc/self/fd/*)
  (ulimit -n $((${#open[@]} + 17)) && "$PLATEAU" run -o job.plateau -- python3 job.py $steps >output 2>err) ||
    fail "descriptors: the job ended with $?: $(tail -3 err)"
  job_is_unhurt descriptors
  recording_is_readable descriptors
}

scenarios=("$@")
[ ${#scenarios[@]} -gt 0 ] ||
  scenarios=(plateau early late relay keeper job server stop memory handles disk shm processes descriptors)

# worker NUMBER: every AT_ONCE-th round, in a directory of its own.
worker() {
  watcher=""
  trap 'kill ${watcher:-} 2>/dev/null || true' EXIT
  local round scenario
  RANDOM=$((SEED + $1))
  mkdir "$SCRATCH/$1"
  cd "$SCRATCH/$1"
  cp ../job.py ../spawn.py .
  for ((round = 1 + $1; round <= rounds; round += AT_ONCE)); do
    for scenario in "${scenarios[@]}"; do
      "scenario_$scenario"
      echo "round $round of $rounds: $scenario: fine"
    done
  done
}
workers=()
for ((number = 0; number < AT_ONCE; number++)); do
  worker "$number" &
  workers+=($!)
done
for worker in "${workers[@]}"; do wait "$worker" || fail "SEED=$SEED AT_ONCE=$AT_ONCE"; done
echo "SEED=$SEED AT_ONCE=$AT_ONCE"
