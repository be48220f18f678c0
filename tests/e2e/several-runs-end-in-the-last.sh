#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A log with two runs: the earlier one in a line, the last one as the headline.
. "$(dirname "$0")/lib.sh"

cat "$RUN1" "$RUN2" >both.log
run "$PLATEAU" judge both.log --examples 663 --batch 8
expect_code 0
expect_in out "run 1 of 2"
expect_in out "run 2 of 2"
sed -n 2p out | grep -q '^PLATEAU ' || fail "second line: $(sed -n 2p out)"
