#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The manual page passes mandoc's lint and renders with every verb in it.
. "$(dirname "$0")/lib.sh"

run "$PLATEAU" man
expect_code 0
mandoc -T lint -W all out >complaints 2>&1 || true
expect_empty complaints
mandoc -T utf8 out | col -b >page
for word in judge convert "--examples" "--until-step" "EXIT STATUS" "EXAMPLES" "undecided"; do
  expect_in page "$word"
done
