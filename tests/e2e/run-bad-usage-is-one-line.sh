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

# Where nothing can be written, the line says what to do. A folder that is gone refuses root too.
mkdir ../gone
code=0
(cd ../gone && rmdir ../gone && exec "$PLATEAU" run -- touch started) >../out 2>../err </dev/null || code=$?
expect_code 2
expect_one_line ../err
expect_in ../err "-o FILE puts it elsewhere, --no-recording keeps none"

# A recording is never replaced silently, and a mistyped command does not cost an old one.
"$PLATEAU" run -q -o old.plateau -- true 2>../err
[ "$(stat -c %a old.plateau)" = 600 ] || fail "others may read the recording"
cp old.plateau ../kept
refused_old() {
  local wanted=$1
  shift
  code=0
  "$PLATEAU" "$@" >../out 2>../err </dev/null || code=$?
  [ "$code" -eq "$wanted" ] || fail "$*: exit code $code instead of $wanted: $(cat ../err)"
  expect_one_line ../err
  cmp old.plateau ../kept || fail "$*: an old recording was overwritten"
}
refused_old 2 run -o old.plateau -- touch started
expect_in ../err "old.plateau exists; --force replaces it"
[ ! -e started ] || fail "the job ran although its recording could not be written"
refused_old 127 run --force -o old.plateau -- no-such-command-here
cp old.plateau new.2.plateau
refused_old 2 run --restart 1 -o new.plateau -- touch started
expect_in ../err "new.2.plateau exists"
sleep 60 &
sleeper=$!
trap 'kill $sleeper 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
refused_old 2 watch $sleeper -o old.plateau --for 1s
expect_in ../err "old.plateau exists; --force replaces it"
"$PLATEAU" run -q --force -o old.plateau -- echo another >../out 2>../err
cmp -s old.plateau ../kept && fail "--force did not replace the recording"
code=0
"$PLATEAU" watch $sleeper --force -o old.plateau --for 1s -q >../out 2>../err || code=$?
kill $sleeper
[ "$code" -ne 2 ] || fail "watch --force: $(cat ../err)"
# Names that nobody chose make room for each other, also in one second.
mkdir many
cd many
for i in 1 2 3 4; do "$PLATEAU" run -q -- true 2>../../err$i & done
wait
[ "$(find . -name 'true-*.plateau' | wc -l)" -eq 4 ] || fail "of 4 runs at once: $(ls)"
