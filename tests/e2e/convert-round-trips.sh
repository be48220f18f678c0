#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What convert writes is read back to the same table and the same answer; -o never overwrites.
. "$(dirname "$0")/lib.sh"

run "$PLATEAU" convert "$RUN2"
expect_code 0
expect_in err "24 samples"
[ "$(wc -l <out)" -eq 25 ] || fail "24 samples and a header, but $(wc -l <out) lines"
cp out run2.csv
run "$PLATEAU" convert -q run2.csv
expect_empty err
cmp out run2.csv || fail "the second conversion differs from the first"

for file in "$RUN2" run2.csv; do
  "$PLATEAU" judge --json "$file" --examples 663 --batch 8 |
    python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["verdict"], d["settled"], d["growth"])' >"answer-$(basename "$file")"
done
cmp answer-run2.log answer-run2.csv || fail "the CSV is judged differently from the log"

run "$PLATEAU" convert "$RUN1" -o run2.csv
expect_code 2
expect_in err "--force"
cmp out /dev/null
run "$PLATEAU" convert -q run2.csv
cmp out run2.csv || fail "a refused -o changed the file"
run "$PLATEAU" convert -q "$RUN1" -o run2.csv --force
expect_code 0
[ "$(wc -l <run2.csv)" -eq 8 ] || fail "--force did not replace the file"
[ -z "$(find . -name 'run2.csv.*')" ] || fail "a temporary file stayed behind"
