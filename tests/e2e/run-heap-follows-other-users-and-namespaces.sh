#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job of root may go on as another user, or in a PID namespace of its own; its heap is recorded all
# the same, under the id that it has here. Where it cannot be, the reason given is the true one.
. "$SOURCE_DIR/tests/e2e/lib.sh"

grow_source=$SOURCE_DIR/tests/stand_in/grow.c
gcc -O1 -g -o grow "$grow_source"
gcc -O1 -static -o grow_static "$grow_source" 2>/dev/null || true
chmod 755 . grow

# recorded WHAT COMMAND...: its heap is in the recording, as that of a process named grow.
recorded() {
  local what=$1
  shift
  rm -f job.plateau
  run "$PLATEAU" run --heap=exact -o job.plateau -- "$@"
  expect_code 0
  run "$PLATEAU" profile job.plateau
  grep -q "Heap of grow (pid" out || fail "$what: $(cat out err)"
  expect_in out "keep"
}
# missed REASON COMMAND...
missed() {
  local reason=$1
  shift
  rm -f job.plateau
  run "$PLATEAU" run --heap=exact -o job.plateau -- "$@"
  expect_code 0
  tr '\n' ' ' <err >flat
  expect_in flat "is not in the recording: $reason"
}

recorded "plain" ./grow
missed "it was started without the job's environment" env -i ./grow
[ ! -x grow_static ] || missed "it is statically linked" ./grow_static
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -x ./grow 2>/dev/null; then
  recorded "another user" setpriv --reuid=65534 --regid=65534 --clear-groups ./grow
  # In a /dev/shm of its own: other tests have directories there too.
  if unshare -m true 2>/dev/null; then
    unshare -m sh -c 'mount -t tmpfs none /dev/shm && "$@" >out 2>err && ls -A /dev/shm >left' sh \
      "$PLATEAU" run --heap=exact -o alone.plateau -- setpriv --reuid=65534 --regid=65534 --clear-groups ./grow ||
      fail "in a /dev/shm of its own: $(cat err)"
    [ ! -s left ] || fail "a directory was left behind: $(cat left)"
  fi
fi
if unshare -pf true 2>/dev/null; then
  recorded "a namespace" unshare -pf ./grow
  recorded "a namespace with its own /proc" unshare -pf --mount-proc ./grow
fi
exit 0
