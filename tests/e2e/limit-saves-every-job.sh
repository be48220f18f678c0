#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# However fast a job with re-forked workers comes to its limit, from 1 to 50 MB a step, it is asked
# early enough to end its step and save. bench/limit_saves.py does the same many more times.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

run python3 "$SOURCE_DIR/bench/limit_saves.py" "$PLATEAU" 5 50 20 1
expect_code 0
expect_in out "saved 5 of 5"
