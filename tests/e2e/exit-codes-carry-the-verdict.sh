#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# plateau and warming 0, leak 1, undecided 3; --expect turns it into a test.
. "$(dirname "$0")/lib.sh"

leak_log 200 >leak.log
flat_log 200 >flat.log

run "$PLATEAU" judge -q flat.log
expect_code 0
run "$PLATEAU" judge -q "$RUN2" --examples 663 --batch 8
expect_code 0
run "$PLATEAU" judge -q leak.log --epoch-steps 50
expect_code 1
head -2 "$RUN1" >two.log
run "$PLATEAU" judge -q two.log
expect_code 3

run "$PLATEAU" judge -q flat.log --expect plateau
expect_code 0
expect_empty err
run "$PLATEAU" judge -q flat.log --expect leak
expect_code 1
expect_one_line err
expect_in err "expected leak"
run "$PLATEAU" judge -q leak.log --epoch-steps 50 --expect leak
expect_code 0
run "$PLATEAU" judge -q leak.log --epoch-steps 50 --expect plateau
expect_code 1
run "$PLATEAU" judge -q two.log --expect plateau
expect_code 3
run "$PLATEAU" judge -q two.log --expect undecided
expect_code 0
