#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each file is judged; leak outranks undecided outranks fine; an unreadable one is 2, the rest still judged.
. "$(dirname "$0")/lib.sh"

leak_log 200 >leak.log
flat_log 200 >flat.log
head -2 "$RUN1" >two.log

run "$PLATEAU" judge -q flat.log "$RUN2"
expect_code 0
[ "$(wc -l <out)" -eq 2 ] || fail "two files, $(wc -l <out) lines"
run "$PLATEAU" judge -q flat.log two.log
expect_code 3
run "$PLATEAU" judge -q two.log leak.log flat.log --epoch-steps 50
expect_code 1
run "$PLATEAU" judge -q missing.log flat.log
expect_code 2
expect_one_line err
expect_in err missing.log
expect_one_line out
expect_in out flat.log

run "$PLATEAU" judge --no-plot flat.log leak.log
expect_in out flat.log
expect_in out leak.log
expect_in out "2 files:"
