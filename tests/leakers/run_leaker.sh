#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_leaker.sh NAME: runs one row of expected.tsv under `plateau run` and holds the answer to it;
# `plateau judge` on the recording must say the same word. Environment: see tests/e2e/lib.sh, and
# LEAKERS_BIN (the built programs), LEAKERS_PYTHON. LEAKERS_KEEP=DIR keeps the recording there.
# shellcheck source=tests/e2e/lib.sh
. "${SOURCE_DIR:?path of the repository}/tests/e2e/lib.sh"
: "${LEAKERS_BIN:?directory of the built leakers}"
python=${LEAKERS_PYTHON:-/usr/bin/python3}
leakers=$SOURCE_DIR/tests/leakers
name=${1:?name of a row of expected.tsv}

row=$(grep -P "^$name\t" "$leakers/expected.tsv") || fail "expected.tsv has no row '$name'"
command=$(cut -f2 <<<"$row")
words=()
for word in $command; do
  word=${word//'{python}'/$python}
  word=${word//'{src}'/$leakers}
  words+=("${word//'{bin}'/$LEAKERS_BIN}")
done
# File mappings must be of a disk: a scratch directory may be a tmpfs.
export TMPDIR=/var/tmp PYTHONDONTWRITEBYTECODE=1

recording=$SCRATCH/$name.plateau
run "$PLATEAU" run --json -o "$recording" -- "${words[@]}"
expect_code 0
cp out ran.out
[ -z "${LEAKERS_KEEP:-}" ] || cp "$recording" "$LEAKERS_KEEP/"

# The job's own output comes first, untouched; the answer is the last line.
tail -n 1 ran.out >answer.json
run "$PLATEAU" judge "$recording" --json
cp out again.json
"$python" "$leakers/check_answer.py" "$row" answer.json again.json
