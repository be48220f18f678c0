#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be run is one line and the right exit code, and leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir place
cd place
refused() {
  local wanted=$1
  shift
  code=0
  "$PLATEAU" run "$@" >../out 2>../err </dev/null || code=$?
  [ "$code" -eq "$wanted" ] || fail "run $*: exit code $code instead of $wanted: $(cat ../err)"
  expect_one_line ../err
  expect_empty ../out
  [ -z "$(ls -A)" ] || fail "run $*: left behind: $(ls -A)"
}
refused 2
refused 2 --
refused 2 --on-limit stop -- true
refused 2 --limit 5GB --save-signal NOPE -- true
refused 2 --interval 0.001s -- true
refused 2 --walk-share 50 -- true
refused 2 --no-recording -o x.plateau -- true
refused 2 -o no/such/place.plateau -- touch started
refused 2 -o / -- touch started
refused 127 -- no-such-command-here
refused 127 -o x.plateau -- ./no-such-file
refused 126 -o x.plateau -- /
refused 126 -o x.plateau -- /etc/passwd

# A mistyped command does not cost an old recording.
"$PLATEAU" run -q -o old.plateau -- true 2>../err
cp old.plateau ../kept
code=0
"$PLATEAU" run -o old.plateau -- no-such-command-here 2>../err || code=$?
[ "$code" -eq 127 ] || fail "exit code $code instead of 127"
cmp old.plateau ../kept || fail "an old recording was overwritten for a command that cannot start"
