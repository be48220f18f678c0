#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Under run --heap the resident memory of a real program is a sum that adds up, live and over the
# run, with the rest shown; and the profile has the totals of the heap.
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >subject.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void *volatile kept;
static pthread_barrier_t ready;
static void *use_stack(void *unused) {
  char room[1 << 20];
  memset(room, 1, sizeof room);
  kept = room;
  pthread_barrier_wait(&ready);
  for (;;) pause();
  return unused;
}
static void grow(void) {
  kept = malloc(200000);
  memset(kept, 1, 200000);
}
int main(void) {
  pthread_barrier_init(&ready, NULL, 3);
  void *shared = mmap(NULL, 20000000, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  memset(shared, 1, 20000000);
  pthread_t thread;
  for (int i = 0; i < 2; ++i) pthread_create(&thread, NULL, use_stack, NULL);
  pthread_barrier_wait(&ready);
  for (int step = 1; step <= 300; ++step) {
    grow();
    printf("step %d\n", step);
    fflush(stdout);
    usleep(10000);
  }
  FILE *pid = fopen("pid.part", "w");
  fprintf(pid, "%d\n", getpid());
  fclose(pid);
  rename("pid.part", "pid");
  for (int step = 301; access("enough", F_OK) != 0; ++step) {
    free(malloc(200000)); /* The allocator is asked at an allocation. */
    printf("step %d\n", step);
    fflush(stdout);
    usleep(10000);
  }
  return 0;
}
END
gcc -O1 -g -pthread -fno-builtin -o subject subject.c

# adds_up LEDGER.json: lines and rest give RSS to the byte's share of a rounding error.
cat >adds_up.py <<'END'
import json, sys

ledger = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    ledger = ledger[key]
lines = {line["name"]: line["mb"] for line in ledger["lines"]}
total = sum(lines.values()) + ledger["rest_mb"]
print(json.dumps(ledger, indent=1))
assert abs(total - ledger["rss_mb"]) < 1e-6, f"{total} is not {ledger['rss_mb']}"
assert all(line["source"] for line in ledger["lines"]), "a line without a source"
END

"$PLATEAU" run -q --heap=exact -o subject.plateau -- ./subject >/dev/null 2>run.err &
plateau=$!
for _ in $(seq 600); do
  [ ! -e pid ] || break
  sleep 0.1
done
[ -e pid ] || fail "the program did not come to its end: $(cat run.err)"
# The recording gets the heaps every few seconds; until then the heap is in the rest, and even so it
# adds up.
for _ in $(seq 120); do
  run "$PLATEAU" profile "$(cat pid)" --rss --json
  expect_code 0
  cp out live.json
  python3 adds_up.py live.json >adds_up.out
  ! python3 -c 'import json; lines = json.load(open("live.json"))["lines"]
exit(not any(line["name"] == "live-heap" and line["mb"] > 59 for line in lines))' || break
  sleep 0.25
done
touch enough
wait "$plateau" || fail "plateau run failed: $(cat run.err)"

python3 - <<'END'
import json

ledger = json.load(open("live.json"))
lines = {line["name"]: line["mb"] for line in ledger["lines"]}
sources = {line["name"]: line["source"] for line in ledger["lines"]}
assert abs(lines["live-heap"] - 60.0) < 1.0, lines
assert sources["live-heap"].startswith("tracer"), sources
# The tracer's own ring is shared memory too, as far as it was used.
assert 20.0 <= lines["shared"] <= 30.0, lines
assert 2.1 <= lines["thread-stacks"] <= 4.0, lines
assert 0 <= ledger["rest_mb"] < 0.1 * ledger["rss_mb"], ledger
END

# Over the run: how much of the growth each line explains, and the totals of the heap.
run "$PLATEAU" profile subject.plateau --rss --json
[ "$code" -ne 2 ] || fail "$(cat err)"
cp out profile.json
python3 adds_up.py profile.json rss >adds_up.out
python3 - <<'END'
import json

profile = json.load(open("profile.json"))
change = profile["rss"]
grown = {line["name"]: line["mb"] for line in change["lines"]}
assert grown["live-heap"] > 50, grown
assert abs(change["rest_mb"]) < 0.15 * change["rss_mb"], change
totals = profile["heap_totals"]
kept = totals["allocated_bytes"] - totals["freed_bytes"]
assert totals["allocated_blocks"] > 300 and totals["freed_blocks"] > 0, totals
assert abs(kept - 60e6) < 1e6, totals
END
