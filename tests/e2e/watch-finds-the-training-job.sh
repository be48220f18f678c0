#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --find-training picks the Python process with the most memory of its own; a pid that does not
# exist, or none at all, is one clear line and exit code 2.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

/usr/bin/python3 -c 'import time; x = b"x" * 400_000_000; time.sleep(20)' train &
job=$!
trap 'kill $job 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
sleep 1
run "$PLATEAU" watch --find-training --for 1s --json --interval 0.2s
head -1 out >first
expect_in first "\"pid\":$job"

run "$PLATEAU" watch 4194303
expect_code 2
expect_one_line err
expect_in err "no such process"
run "$PLATEAU" watch
expect_code 2
expect_in err "give a PID, or --find-training"
run "$PLATEAU" watch twelve
expect_code 2
expect_in err "PID must be a process id"
