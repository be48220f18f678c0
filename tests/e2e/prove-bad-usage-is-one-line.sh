#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be proved is said in one line that names what to try, with exit code 2, and leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

refused() {
  code=0
  "$PLATEAU" prove -q "$@" >out 2>err </dev/null || code=$?
  expect_code 2
  expect_empty out
  grep -v 'then ends it\|and ends it' err >said || true
  expect_one_line said
}
refused
refused --steps 10 -- true
expect_in said "at least 30"
refused --contrast moon -- true
expect_in said "no-optimizer"
refused --contrast workers=2 -- true
expect_in said "workers=0,2"
refused --contrast malloc=other -- true
refused --other 'true {i}' -- true
expect_in said "--repeat"
refused --repeat true --contrast gc -- true
refused --repeat true --requests 2 -- true
refused -- no-such-command-here

# No Python, Python without torch, Python that reads no PYTHONPATH: what to use instead.
refused -- echo hello
expect_in said "no training step was seen"
expect_in said "--repeat"
refused -- python3 -c 'print("nothing to train")'
expect_in said "torch DataLoader"
refused -- sh -c 'exit 7'
expect_in said "exit code 7"

# A server that is none.
refused --repeat true -- true
refused --repeat 'exit 1' -- false
expect_in said "ended before it answered"
