#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# By function, as trees, between two steps, filtered, of another process, and as JSON.
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"
: "${HEAP_DEMO:?path of heap_demo}"
"$HEAP_DEMO" leak.plateau leak

run "$PLATEAU" profile leak.plateau --flat
expect_code 1
expect_in out "self"
expect_in out "main (lazy_images.py)"

run "$PLATEAU" profile leak.plateau --tree
expect_in out "main (lazy_images.py:41)"
run "$PLATEAU" profile leak.plateau --peak
expect_in out "at its peak"
run "$PLATEAU" profile leak.plateau --temporary
expect_in out "were freed within"
run "$PLATEAU" profile leak.plateau --around .
expect_in out "allocates through"
run "$PLATEAU" profile leak.plateau --peak --flat
expect_code 2

run "$PLATEAU" profile leak.plateau --inverted
[ "$(sed -n 4p out | grep -c _imaging.so)" -eq 1 ] || fail "the allocating call is not first: $(cat out)"

run "$PLATEAU" profile leak.plateau --from-step 100 --to-step 200
expect_in out "+20.0 MB"
run "$PLATEAU" profile leak.plateau --filter model.py --show all
expect_code 0
expect_not_in out "load ("
run "$PLATEAU" profile leak.plateau --exclude load --show all
expect_not_in out "load ("
run "$PLATEAU" profile leak.plateau --by module --show all
expect_in out "model.py"
run "$PLATEAU" profile leak.plateau --process worker
expect_code 0
expect_in out "worker (pid 4243)"

run "$PLATEAU" profile leak.plateau --json
expect_code 1
python3 - <<'PY'
import json
answer = json.load(open("out"))
assert list(answer)[:5] == ["schema", "file", "pid", "process", "site"], list(answer)
site = answer["sites"][0]
assert site["word"] == "unbounded" and site["growing"], site
assert site["rate_low"] <= 0.2 <= site["rate_high"], site
assert site["frames"][1]["function"] == "load" and site["frames"][1]["line"] == 245, site
assert answer["sites"][1]["word"] == "level", answer["sites"][1]
PY

run "$PLATEAU" profile leak.plateau --process all
expect_code 1
expect_in out "all processes"

run "$PLATEAU" profile leak.plateau --export folded
expect_code 0
grep -qE '^main .*load .*_imaging.so.* 20[0-9]{7}$' out || fail "no folded stack: $(cat out)"
run "$PLATEAU" profile leak.plateau --export speedscope -o heap.json
expect_code 0
expect_empty out
python3 -c 'import json; assert json.load(open("heap.json"))["profiles"]'
run "$PLATEAU" profile leak.plateau --export pprof -o heap.pb.gz
expect_code 0
gzip -t heap.pb.gz
run "$PLATEAU" profile leak.plateau --export pprof -o heap.pb.gz
expect_code 2
run "$PLATEAU" profile leak.plateau --export pprof -o heap.pb.gz --force
expect_code 0
