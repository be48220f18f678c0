#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No colour when piped, none with NO_COLOR or TERM=dumb; colour when forced; ASCII outside UTF-8.
. "$(dirname "$0")/lib.sh"

run "$PLATEAU" judge "$RUN2"
expect_harmless out
run env NO_COLOR=1 "$PLATEAU" judge "$RUN2" --color auto
expect_harmless out
run env NO_COLOR=1 CLICOLOR_FORCE=1 "$PLATEAU" judge "$RUN2"
expect_harmless out
run env CLICOLOR_FORCE=1 "$PLATEAU" judge "$RUN2" --color never
expect_harmless out

escape=$(printf '\033[')
run env CLICOLOR_FORCE=1 "$PLATEAU" judge "$RUN2"
expect_in out "$escape"
run env NO_COLOR=1 "$PLATEAU" judge "$RUN2" --color always
expect_in out "$escape"

run env LC_ALL=C "$PLATEAU" judge "$RUN2" --explain
! LC_ALL=C grep -qP '[^\x20-\x7e]' out || fail "not ASCII in the C locale: $(LC_ALL=C grep -nP '[^\x20-\x7e]' out | head -3)"

for width in 60 80 120 200; do
  run "$PLATEAU" judge "$RUN2" --width "$width"
  longest=$(wc -L <out)
  [ "$longest" -le "$width" ] || fail "a line of $longest columns at width $width"
done
