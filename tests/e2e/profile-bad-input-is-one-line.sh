#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be profiled is told in one line that says what to do, with exit code 2.
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"
: "${HEAP_DEMO:?path of heap_demo}"

refused() {
  local wanted=$1
  shift
  run "$PLATEAU" profile "$@"
  expect_code 2
  expect_empty out
  expect_one_line err
  expect_in err "$wanted"
}

"$HEAP_DEMO" none.plateau none
"$HEAP_DEMO" leak.plateau leak
refused "plateau run --heap" none.plateau
refused "plateau run --heap" "$RUN2"
refused "FILE|PID is missing"
refused "nowhere.plateau" nowhere.plateau
refused "is not a recording with a heap" "$SOURCE_DIR/CMakeLists.txt"
refused "traces the heap of process $$" $$
refused "pid 999999999: no such process" 999999999
refused "pid 999999999: no such process" 999999999 --objects
refused "pid 999999999: no such process" 999999999 --rss
refused "there are 4242 (python3), 4243 (worker)" leak.plateau --process nobody
refused "regular expression" leak.plateau --filter '('
refused "from step 4 to 996" leak.plateau --from-step 5000
refused "must lie before" leak.plateau --from-step 50 --to-step 40
refused "--by goes with the list" leak.plateau --by kind --tree
refused "--export goes alone" leak.plateau --export folded --tree
refused "--output goes with --export" leak.plateau -o x
refused "--objects needs the PID" leak.plateau --objects
refused "go with --objects" leak.plateau --again 3s
