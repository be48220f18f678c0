#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run --heap puts a heap track into the recording and changes neither output nor exit code.
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >leak.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *volatile kept;
__attribute__((noinline)) static void leak(void) {
  kept = malloc(50000);
  memset(kept, 1, 50000);
}
int main(void) {
  for (int step = 1; step <= 200; ++step) {
    leak();
    printf("step %d\n", step);
  }
  fprintf(stderr, "done\n");
  return 5;
}
EOF
gcc -O1 -o leak leak.c
./leak >plain.out 2>plain.err || true

for mode in --heap --heap=sampled --heap=exact; do
  code=0
  "$PLATEAU" run $mode -o "run$mode.plateau" -- ./leak >out 2>err || code=$?
  expect_code 5
  cmp out plain.out || fail "the output changed under $mode"
  expect_in err "done"
  expect_in err "'plateau profile run$mode.plateau' says what grew"
  "$PLATEAU" dump --records "run$mode.plateau" >records
  expect_in records "heap"
done
# Every block is known: 200 of 50000 bytes, and what printf keeps.
grep -q 'every allocation, .* 10\.0 MB alive' records || fail "not the truth: $(grep -w heap records)"

# The options say what goes with them.
for bad in "--heap=everything" "--heap-interval 64KiB" "--heap --no-recording" \
  "--heap=exact --heap-interval 64KiB" "--heap --heap-interval 1kB"; do
  # shellcheck disable=SC2086
  run "$PLATEAU" run $bad -- true
  expect_code 2
  expect_one_line err
done
run "$PLATEAU" run --heap --heap-interval 64KiB -o fine.plateau -- ./leak
expect_code 5
