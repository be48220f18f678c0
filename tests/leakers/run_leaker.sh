#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_leaker.sh NAME: runs one row of expected.tsv under `plateau run` and holds the answer to it;
# `plateau judge` on the recording must say the same word. Environment: see tests/e2e/lib.sh, and
# LEAKERS_BIN (the built programs), LEAKERS_PYTHON. LEAKERS_KEEP=DIR keeps the recording there.
# shellcheck source=tests/e2e/lib.sh
. "${SOURCE_DIR:?path of the repository}/tests/e2e/lib.sh"
# shellcheck source=tests/leakers/leaker_words.sh
. "$SOURCE_DIR/tests/leakers/leaker_words.sh"
name=${1:?name of a row of expected.tsv}

row=$(row_of expected.tsv "$name")
fill_words "$(cut -f2 <<<"$row")"

recording=$SCRATCH/$name.plateau
# The leakers do in ten seconds what a job does in an hour, so their page tables are walked ten times
# as often as is the default: a verdict needs some twenty walks whatever the time.
run "$PLATEAU" run --json --walk-share 2 -o "$recording" -- "${words[@]}"
expect_code 0
[ -z "${LEAKERS_KEEP:-}" ] || cp "$recording" "$LEAKERS_KEEP/"
# Standard output is the job's alone. The answer goes to standard error, after what the job wrote.
grep '^{' err | tail -n 1 >answer.json || fail "no answer in the standard error:
$(tail -c 2000 err)"
run "$PLATEAU" judge "$recording" --json
cp out again.json
"$python" "$leakers/check_answer.py" "$row" answer.json again.json
