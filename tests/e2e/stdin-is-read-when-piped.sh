#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# "-" and a bare pipe give the same answer as the file.
. "$(dirname "$0")/lib.sh"

run "$PLATEAU" judge --no-plot "$RUN2"
expect_code 0
cp out from-file
code=0
"$PLATEAU" judge --no-plot - <"$RUN2" >out 2>err || code=$?
expect_code 0
cmp out from-file
code=0
"$PLATEAU" judge --no-plot <"$RUN2" >out 2>err || code=$?
expect_code 0
cmp out from-file

code=0
"$PLATEAU" judge </dev/null >out 2>err || code=$?
expect_code 2
expect_empty out
expect_one_line err
