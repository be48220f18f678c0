#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compare: removed, appeared, too short and undecided, with exit codes; groups, JSON and usage errors.
. "$(dirname "$0")/lib.sh"

leak_log 200 >leak.log
flat_log 200 >flat.log
head -11 flat.log >short.log

run "$PLATEAU" compare leak.log flat.log --epoch-steps 50
expect_code 0
expect_empty err
expect_in out "BETTER"
expect_in out "the fix removed the growth"
expect_in out "one run a side"
expect_harmless out

run "$PLATEAU" compare flat.log leak.log --epoch-steps 50 -q
expect_code 1
expect_one_line out
expect_in out "B leaks"
expect_in out "A does not"

run "$PLATEAU" compare leak.log short.log --epoch-steps 100 -q
expect_code 3
expect_in out "too short to tell: B ends at step 110"

run "$PLATEAU" compare flat.log flat.log -q
expect_code 0
expect_in out "NO WORSE"
expect_in out "no significant difference in growth"

run "$PLATEAU" compare "$RUN1" "$RUN2" --examples 663 --batch 8 -q
expect_code 3
expect_in out "A is undecided"

# Several runs a side, and more than two sides.
run "$PLATEAU" compare leak.log leak.log --vs flat.log flat.log --epoch-steps 50
expect_code 0
expect_in out "removed the growth"
expect_not_in out "one run a side"
run "$PLATEAU" compare flat.log flat.log leak.log --epoch-steps 50
expect_code 1
expect_in out "B: no significant difference"
expect_in out "C: C leaks"

# Recorded traces with known truth.
dev=$SOURCE_DIR/corpus/dev
run "$PLATEAU" compare "$dev/leak_arrays-1.csv.gz" "$dev/flat-3.csv.gz" --json
expect_code 0
expect_one_line out
expect_in out '"growth":"removed"'
python3 -c 'import json, sys; json.load(open("out"))' || fail "not JSON"

run "$PLATEAU" compare flat.log
expect_code 2
expect_in err "holds only one run"
run "$PLATEAU" compare leak.log --vs
expect_code 2
expect_in err "--vs needs a FILE on both sides"
run "$PLATEAU" compare leak.log missing.log
expect_code 2
expect_one_line err
expect_in err missing.log
