# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Progress for people, on standard error. Source it.
#
#   progress TEXT       on a terminal, a line that is rewritten; elsewhere a line, at most every ten seconds
#   progress_end TEXT   the last line of a job, always shown

progress_next=0
progress() {
  if [ -t 2 ]; then
    printf '\r\033[K%s' "$1" >&2
  elif [ "$SECONDS" -ge "$progress_next" ]; then
    printf '%s\n' "$1" >&2
    progress_next=$((SECONDS + 10))
  fi
}

progress_end() {
  [ ! -t 2 ] || printf '\r\033[K' >&2
  printf '%s\n' "$1" >&2
}
