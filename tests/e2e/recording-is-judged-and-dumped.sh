#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A recording is recognised by content, plain or compressed, and dump shows it; damage is named.
. "$(dirname "$0")/lib.sh"

cp "$SOURCE_DIR/tests/fixtures/logs/recording_v1.plateau" job.bin
gzip -k job.bin
run "$PLATEAU" judge --json job.bin
[ "$code" -eq 0 ] || [ "$code" -eq 3 ] || fail "judge exits with $code: $(cat err)"
cp out plain.json
run "$PLATEAU" judge --json job.bin.gz
sed 's/job\.bin\.gz/job.bin/' out | cmp - plain.json || fail "the compressed recording is judged differently"
run "$PLATEAU" judge --json - <job.bin
expect_in out '"verdict"'

run "$PLATEAU" convert -q job.bin
expect_code 0
[ "$(wc -l <out)" -eq 11 ] || fail "10 instants and a header, but $(wc -l <out) lines"

run "$PLATEAU" dump job.bin
expect_code 0
expect_empty err
expect_in out "command    py x"
expect_in out "10 samples over 9 s"
expect_in out "pid 7, main (root): py"
expect_in out "limit_mb 2 (--limit)"
expect_in out "exited with code 0"
expect_not_in out "offset"

run "$PLATEAU" dump --records job.bin.gz
expect_code 0
[ "$(sed -n '/offset/,$p' out | wc -l)" -eq 15 ] || fail "14 records and a title expected"

run "$PLATEAU" dump --json job.bin
expect_code 0
python3 - out <<'PY' || fail "dump --json is not one object a record"
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
assert len(records) == 14, len(records)
spans = [r for r in records if r["type"] == "span"]
assert spans[0]["mean"]["0"] == 1050 and spans[0]["low"]["cells"]["0"] == 1000, spans[0]
PY

cp "$SOURCE_DIR/tests/fixtures/recordings/heap_v1.plateau" heap.bin
run "$PLATEAU" dump heap.bin
expect_code 0
expect_in out "pid 7: every allocation, 2 sites, 5 rows,"
run "$PLATEAU" dump --records heap.bin
expect_in out "pid 7  number 1"
run "$PLATEAU" dump --json heap.bin
python3 - out <<'PY' || fail "dump --json does not show the heap records"
import json, sys
heaps = [r for r in map(json.loads, open(sys.argv[1])) if r["type"] == "heap"]
assert [h["number"] for h in heaps] == [0, 1], heaps
assert heaps[1]["sites"] == 2 and heaps[1]["rows"] == 5 and heaps[1]["live_bytes"] == 5064, heaps[1]
PY

head -c 200 job.bin >torn.bin
run "$PLATEAU" dump --records torn.bin
expect_code 0
expect_in out "damaged"
expect_in out "left out"
run "$PLATEAU" judge torn.bin
expect_in out "left out"

echo "Step 1: 5 MB" >text.log
for file in text.log nothing-here; do
  run "$PLATEAU" dump "$file"
  expect_code 2
  expect_one_line err
  expect_empty out
done
head -c 20 job.bin >headless.bin
run "$PLATEAU" judge headless.bin
expect_code 2
expect_one_line err
sed 's/\r$//' job.bin >converted.bin
run "$PLATEAU" judge converted.bin
expect_code 2
expect_in err "as binary"

# What is no recording is not read to its end, which it may not have.
for endless in /dev/zero /dev/urandom; do
  run timeout 20 "$PLATEAU" dump "$endless"
  expect_code 2
  expect_in err "$endless is not a Plateau recording"
  expect_empty out
done
