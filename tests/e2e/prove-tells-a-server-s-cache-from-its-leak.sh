#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A server that keeps something per request is per-step, one that keeps it per key per-example, and both are ended.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# Answers on a named pipe, because that needs no port; each request is a line.
cat >server.py <<'EOF'
import os
import sys

kept, cache = [], {}
while True:
    with open("asked") as asked:
        key = asked.read().strip()
    if sys.argv[1] == "leak":
        kept.append(b"x" * 300_000)
    elif key not in cache:
        cache[key] = key.encode() * 300_000
    with open("answered", "w") as answered:
        answered.write("ok")
EOF
mkfifo asked answered
# shellcheck disable=SC2016  # The server's shell expands it.
ask='echo k{i} >asked; read -r ok <answered; [ "$ok" = ok ]'

run "$PLATEAU" prove --json --requests 8 --repeat "$ask" -- python3 server.py leak
expect_code 1
expect_in out '"proved":"per-step"'
run "$PLATEAU" prove --requests 8 --repeat "$ask" -- python3 server.py cache
expect_code 0
expect_in out "PER-KEY"
if pgrep -f "server.py (leak|cache)" >/dev/null; then fail "a server was left running"; fi
