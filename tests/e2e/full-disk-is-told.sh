#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Output that cannot be written is an error with its reason, not a success.
. "$(dirname "$0")/lib.sh"

for arguments in "judge $RUN2" "judge --json $RUN2" "convert -q $RUN2" "--help" "man"; do
  code=0
  # shellcheck disable=SC2086
  "$PLATEAU" $arguments >/dev/full 2>err || code=$?
  : >out
  expect_code 2
  expect_one_line err
  expect_in err "No space left"
done
run "$PLATEAU" convert -q "$RUN2" -o /dev/full
expect_code 2
expect_in err "No space left"
