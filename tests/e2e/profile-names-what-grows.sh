#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A recording with heaps: the site that grows is named from native and Python frames together, the
# exit code carries its word, and judge names it too.
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"
: "${HEAP_DEMO:?path of heap_demo}"

"$HEAP_DEMO" leak.plateau leak
run "$PLATEAU" profile leak.plateau
expect_code 1
expect_empty err
expect_harmless out
expect_in out "UNBOUNDED grows at _imaging.so called from load (PIL/ImageFile.py:245) <- main"
expect_in out "+200 kB/step"
expect_not_in out "worker"

run "$PLATEAU" profile leak.plateau -q
expect_code 1
expect_in out "UNBOUNDED"

"$HEAP_DEMO" filled.plateau filled
run "$PLATEAU" profile filled.plateau
expect_code 0
expect_in out "GROWN"
expect_in out "level since"

"$HEAP_DEMO" level.plateau level
run "$PLATEAU" profile level.plateau --show all
expect_code 0
expect_in out "no call stack grows"
expect_in out "build (model.py:7)"

# Three rows decide nothing, but show which site grew: not the two that rose by a sample or two.
cp "$SOURCE_DIR/tests/fixtures/recordings/three_heap_rows.plateau" short.plateau
run "$PLATEAU" profile short.plateau
expect_in out "UNDECIDED grows at memory_get_block [_imaging.so] called from new"
expect_in out "+54.0 MB in 3 rows: too few to judge"
run "$PLATEAU" profile --json short.plateau
python3 -c '
import json
first = json.load(open("out"))["sites"][0]
assert abs(first["growth_mb"] - 54) < 0.1 and first["growing"], first'
run "$PLATEAU" judge --json short.plateau
python3 -c '
import json
assert json.load(open("out"))["site"] == "new (PIL/Image.py:2916)"'

run "$PLATEAU" judge leak.plateau
expect_in out "load (PIL/ImageFile.py:245)"
run "$PLATEAU" judge --json leak.plateau
python3 -c '
import json
assert json.load(open("out"))["site"] == "load (PIL/ImageFile.py:245)"'
