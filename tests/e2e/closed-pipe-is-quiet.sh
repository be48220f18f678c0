#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `| head` ends the output without a word, and the exit code stays the verdict's.
. "$(dirname "$0")/lib.sh"

for ((i = 0; i < 400; i++)); do files+=("$RUN2"); done
for option in --json --no-plot --explain; do
  "$PLATEAU" judge "$option" "${files[@]}" 2>err | head -n 1 >out
  expect_empty err
  expect_one_line out
done
codes=$(set +e +o pipefail; "$PLATEAU" judge --json "${files[@]}" 2>err | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}")
[ "$codes" -eq 0 ] || fail "exit code $codes with a closed pipe"
