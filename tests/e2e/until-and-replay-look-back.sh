#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --until-step shows the answer of that moment; --replay says from when on it was known.
. "$(dirname "$0")/lib.sh"

# nameless: the JSON of the last run without the file's name.
nameless() {
  python3 -c 'import json; d = json.load(open("out")); d["file"] = ""; print(json.dumps(d))'
}

head -7 "$RUN2" >first7.log
run "$PLATEAU" judge --json --until-step 70 "$RUN2"
nameless >cut.json
python3 -c '
import json
then = json.load(open("out"))
assert then["steps"]["last"] == 70, then["steps"]
assert then["samples"] == 7, then["samples"]'
run "$PLATEAU" judge --json first7.log
nameless >whole.json
cmp cut.json whole.json || fail "the cut run and the short file are judged differently"

run "$PLATEAU" judge --replay "$RUN2" --examples 663 --batch 8
expect_code 0
expect_in out "knew at step"
changes=$(wc -l <out)
run "$PLATEAU" judge --replay --every "$RUN2" --examples 663 --batch 8
[ "$(wc -l <out)" -gt "$changes" ] || fail "--every shows no more than the changes"

printf '13:00:00 Step 10: 1000 MB\n13:01:00 Step 20: 1100 MB\n13:02:00 Step 30: 1200 MB\n' >clock.log
for until in 60 1m 13:01:30; do
  run "$PLATEAU" judge --json --until-time "$until" clock.log
  python3 -c 'import json; d=json.load(open("out")); assert d["samples"] == 2, d["samples"]' ||
    fail "--until-time $until"
done
run "$PLATEAU" judge --until-time 10m "$RUN2"
expect_code 2
expect_one_line err
expect_in err "--until-step"
