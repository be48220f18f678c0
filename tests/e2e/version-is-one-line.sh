#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --version says name and number, nothing else.
. "$(dirname "$0")/lib.sh"

run "$PLATEAU" --version
expect_code 0
expect_one_line out
grep -qE '^plateau [0-9]+\.[0-9]+\.[0-9]+$' out || fail "not a version: $(cat out)"
