#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The case the project began from: run2 is a plateau with its cause, run1 is not called a leak.
. "$(dirname "$0")/lib.sh"

run "$PLATEAU" judge "$RUN2" --examples 663 --batch 8
expect_code 0
head -1 out | grep -q '^PLATEAU ' || fail "first line: $(head -1 out)"
expect_in out "step 83"
expect_in out "Grew"
expect_in out "Next"
expect_in out "Confirm:"
expect_in out "epoch"

run "$PLATEAU" judge "$RUN1" --examples 663 --batch 8 --limit 20GB
head -1 out | grep -qE '^(UNDECIDED|WARMING) ' || fail "first line: $(head -1 out)"
expect_in out "step 83"

run "$PLATEAU" judge "$RUN1"
head -1 out | grep -qE '^(UNDECIDED|WARMING) ' || fail "first line: $(head -1 out)"
expect_in out "--examples"
