# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the end-to-end tests share. Source it; it gives a scratch directory that goes away, and
# checks that say what differed. PLATEAU is the binary, SOURCE_DIR the repository.
set -euo pipefail

: "${PLATEAU:?path of the plateau binary}"
: "${SOURCE_DIR:?path of the repository}"
# A fixed world: no colour wishes, no terminal width, a UTF-8 locale, from whoever runs this.
unset NO_COLOR CLICOLOR_FORCE COLUMNS LC_CTYPE LANG
# The system's programs come first: a python3 that is a wrapper script would add processes.
export LC_ALL=C.UTF-8 TERM=xterm PATH=/usr/bin:/bin:$PATH

RUN1=$SOURCE_DIR/corpus/model-garden/run1.log
RUN2=$SOURCE_DIR/corpus/model-garden/run2.log
export RUN1 RUN2

SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
cd "$SCRATCH"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# skip WHY: ends the test as skipped, which is counted and named, and in CI allowed only where
# tests/allowed_skips.txt says so.
skip() {
  echo "SKIPPED: $*"
  exit 77
}

# run CMD...: runs it with stdin from /dev/null unless redirected; leaves $code, files out and err.
run() {
  code=0
  "$@" >out 2>err || code=$?
}

# expect_code N: the exit code of the last run.
expect_code() {
  [ "$code" -eq "$1" ] || fail "exit code $code instead of $1
--- out
$(head -c 2000 out)
--- err
$(head -c 2000 err)"
}

# expect_in FILE TEXT / expect_not_in FILE TEXT: fixed text, anywhere in the file.
expect_in() {
  grep -qF -- "$2" "$1" || fail "'$2' is not in $1:
$(head -c 2000 "$1")"
}
expect_not_in() {
  ! grep -qF -- "$2" "$1" || fail "'$2' is in $1:
$(head -c 2000 "$1")"
}

expect_empty() {
  [ ! -s "$1" ] || fail "$1 is not empty:
$(head -c 2000 "$1")"
}

# expect_one_line FILE: exactly one line, not empty.
expect_one_line() {
  [ "$(wc -l <"$1")" -eq 1 ] || fail "$1 is not one line:
$(head -c 2000 "$1")"
  grep -q . "$1" || fail "$1 is a blank line"
}

# expect_harmless FILE: no escape and no other control character besides the line end.
expect_harmless() {
  ! LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' "$1" || fail "control characters in $1:
$(head -c 2000 "$1" | cat -v)"
}

# leak_log N: a log of N samples that grows by 100 MB a step without end, from 1 GB on.
leak_log() {
  local step
  for ((step = 1; step <= $1; step++)); do
    echo "Step $((step * 10)): $((1000 + step * 1000 + step * 7919 % 13)) MB"
  done
}

# flat_log N: a log of N samples around 5 GB.
flat_log() {
  local step
  for ((step = 1; step <= $1; step++)); do
    echo "Step $((step * 10)): $((5000 + step * 7919 % 13)) MB"
  done
}

# wait_until CMD...: until it succeeds, at most 20 s; what a job says it does comes when it comes.
wait_until() {
  local try
  for ((try = 0; try < 400; try++)); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.05
  done
  fail "never came true: $*"
}

# gone PID: no such process, or only its entry (a zombie) is left.
gone() {
  local state
  state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) || return 0
  [ "$state" = Z ]
}
