#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Without a FILE, judge reads a pipe but does not sit waiting at a terminal.
. "$(dirname "$0")/lib.sh"

# script(1) gives the command a terminal as standard input.
command -v script >/dev/null || skip "script(1) is not installed"
code=0
timeout 20 script -qec "$PLATEAU judge" typescript </dev/null >out 2>err || code=$?
expect_code 2
expect_in out "no FILE given"
