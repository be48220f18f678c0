#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Segments lie in memory that may be scarce. With little room rings are smaller, with none the job
# runs untraced; it says so, and the job never notices. Needs a namespace of its own for a small
# /dev/shm.
. "$SOURCE_DIR/tests/e2e/lib.sh"

unshare -rm true 2>/dev/null || skip "this machine lets nobody mount"
cat >leak.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) static void leak(void) {
  kept = malloc(20000);
  memset(kept, 1, 20000);
}
static void leak_much(void) {
  for (int i = 0; i < 400; ++i) leak();
}
int main(int argc, char **argv) {
  /* So many processes are alive at once, each with a heap and a ring of its own; they come one
     after the other, so that no two try for the same room. */
  leak_much();
  for (int i = 1; i < atoi(argv[argc - 1]); ++i) {
    int ready[2];
    char byte = 0;
    if (pipe(ready) != 0) return 1;
    if (fork() == 0) {
      leak_much();
      if (write(ready[1], &byte, 1) != 1) return 1;
      break;
    }
    if (read(ready[0], &byte, 1) != 1) return 1;
  }
  for (int step = 1; step <= 200; ++step) {
    leak();
    usleep(5000);
  }
  while (wait(NULL) > 0) continue;
  puts("done");
  return 0;
}
END
gcc -O1 -g -o leak leak.c

# in_room SIZE COMMAND...: runs it where /dev/shm and TMPDIR are one file system of that size.
in_room() {
  local size=$1
  shift
  # shellcheck disable=SC2016
  unshare -rm bash -c 'mount -t tmpfs -o "size=$0" none /dev/shm && mkdir /dev/shm/t && TMPDIR=/dev/shm/t exec "$@"' \
    "$size" "$@"
}

for mode in sampled exact; do
  # For one ring of 2 MiB and three of half a one, which is what children get anyway.
  run in_room 4m "$PLATEAU" run "--heap=$mode" -o "some-$mode.plateau" -- ./leak 3
  expect_code 0
  [ "$(grep -c "^done$" out)" -eq 3 ] || fail "the job suffered: $(cat out err)"
  expect_in err "little room in /dev/shm: "
  expect_in err "traced through smaller rings"
  expect_not_in err "ran untraced"
  run "$PLATEAU" profile "some-$mode.plateau" --json --process all
  expect_in out '"function":"leak"'

  # For none at all. What an untraced process forks does not try again.
  run in_room 300k "$PLATEAU" run "--heap=$mode" -o "none-$mode.plateau" -- ./leak 3
  expect_code 0
  [ "$(grep -c "^done$" out)" -eq 3 ] || fail "the job suffered: $(cat out err)"
  expect_in err "no room in /dev/shm for the heap tracer: 1 of the job's processes, and what they forked, ran untraced"
done
