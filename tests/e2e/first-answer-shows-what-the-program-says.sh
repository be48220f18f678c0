#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The report in docs/first-answer.md is the program's own, to the letter.
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2016  # The dollar is a prompt.
sed -n '/^\$ plateau judge corpus\/model-garden\/run2.log/,/^```/p' "$SOURCE_DIR/docs/first-answer.md" |
  sed '1d;$d' >shown
[ -s shown ] || fail "the page shows no report"
run "$PLATEAU" judge "$RUN2" --examples 663 --batch 8
expect_code 0
diff -u shown out || fail "the page's report is out of date: paste the new one"

# So is the step by which it says it will know, of the earlier run.
run "$PLATEAU" judge "$RUN1" --examples 663 --batch 8 --json
step=$(python3 -c 'import json; print(round(json.load(open("out"))["known_by_step"]))')
grep -q "most likely know by step $step\." "$SOURCE_DIR/docs/first-answer.md" || fail "it will know by step $step; the page says otherwise"
