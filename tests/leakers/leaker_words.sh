# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Source it, after tests/e2e/lib.sh: how a row of expected.tsv is started. LEAKERS_BIN is the
# directory of the built leakers, LEAKERS_PYTHON the interpreter.
: "${LEAKERS_BIN:?directory of the built leakers}"
python=${LEAKERS_PYTHON:-/usr/bin/python3}
leakers=$SOURCE_DIR/tests/leakers
# File mappings must be of a disk: a scratch directory may be a tmpfs.
export TMPDIR=/var/tmp PYTHONDONTWRITEBYTECODE=1

# row_of TABLE NAME: the row of TABLE whose first field is NAME.
row_of() {
  grep -P "^$2\t" "$leakers/$1" || fail "$1 has no row '$2'"
}

# fill_words COMMAND: leaves the words of a command of the table in the array `words`.
fill_words() {
  local word
  words=()
  for word in $1; do
    word=${word//'{python}'/$python}
    word=${word//'{src}'/$leakers}
    words+=("${word//'{bin}'/$LEAKERS_BIN}")
  done
}
