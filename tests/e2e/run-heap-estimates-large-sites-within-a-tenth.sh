#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# At the default rate every site that holds 5 % or more of the live heap is within 10 % of the truth.
#
# The heap is 16 GiB of address space, of which only the pages with malloc's headers are touched
# (160 MB). The smallest site, 5 % in blocks of 256 KiB, has a standard error of 2.2 %: 10 % are 4.6
# of them, which chance passes once in 200,000 runs. Each site also frees a quarter of what it made.
. "$SOURCE_DIR/tests/e2e/lib.sh"

[ "$(cat /proc/sys/vm/overcommit_memory)" != 2 ] || skip "this machine promises no more memory than it has"
cat >sites.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static const long kKept = 16L << 30;
static void *volatile kept;
/* Keeps `percent` of the heap in blocks of `bytes`; every fourth block that is made goes again. */
static __attribute__((always_inline)) inline void hold(const char *name, int percent, long bytes) {
  const long blocks = kKept / 100 * percent / bytes;
  for (long i = 0; i < blocks; ++i) {
    kept = malloc((size_t)bytes);
    if (kept == NULL) exit(9);
    if (i % 3 == 0) free(malloc((size_t)bytes));
  }
  printf("%s %ld\n", name, blocks * bytes);
}
__attribute__((noinline)) void hold_05(void) { hold("hold_05", 5, 256L << 10); puts(""); }
__attribute__((noinline)) void hold_10(void) { hold("hold_10", 10, 128L << 10); puts(""); }
__attribute__((noinline)) void hold_25(void) { hold("hold_25", 25, 1L << 20); puts(""); }
__attribute__((noinline)) void hold_60(void) { hold("hold_60", 60, 512L << 10); puts(""); }
int main(void) {
  hold_10();
  hold_60();
  hold_05();
  hold_25();
  fflush(stdout);
  sleep(2); /* A row of the track is taken meanwhile. */
  return 0;
}
END
gcc -O1 -g -fno-builtin -o sites sites.c

run "$PLATEAU" run -q --heap -o sites.plateau -- ./sites
expect_code 0
grep . out >truth
run "$PLATEAU" profile sites.plateau --show all --json
[ "$code" -ne 2 ] || fail "$(cat err)"
python3 - truth out <<'END'
import json, sys

truth = {name: int(size) / 1e6 for name, size in map(str.split, open(sys.argv[1]))}
profile = json.load(open(sys.argv[2]))
assert not profile["exact"] and profile["interval_bytes"] == 524288, "not the default rate"
whole = sum(truth.values())
found = {}
for site in profile["sites"]:
    for name in truth:
        if any(frame["function"] == name for frame in site["frames"]):
            found[name] = found.get(name, 0) + site["live_mb"]
assert len(truth) == 4, truth
for name, mb in truth.items():
    assert mb >= 0.0499 * whole, (name, mb)
    off = found.get(name, 0) / mb - 1
    print(f"{name}: {mb:.0f} MB, told {found.get(name, 0):.0f} MB, {off:+.1%}")
    assert abs(off) <= 0.10, f"{name} is off by {off:+.1%}"
END
