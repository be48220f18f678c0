#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A log may hold colours, titles, cursor movement: none of it comes out, in any kind of report.
. "$(dirname "$0")/lib.sh"

escape=$(printf '\033')
{
  printf '%s]0;owned\007%s[2J%s[31mStep 10:%s[0m  5,434 MB %s[5mblink\n' "$escape" "$escape" "$escape" "$escape" "$escape"
  for step in 20 30 40 50 60; do
    printf 'Step %d: %s[1m%d MB%s[0m \302\233 \377\n' "$step" "$escape" $((5000 + step)) "$escape"
  done
  printf 'Step 70: -3 MB %s[31m\n' "$escape"
} >evil.log
name=$(printf 'evil\033[31m\nname.log')
cp evil.log "$name"

for option in --no-plot --explain --replay -q; do
  run "$PLATEAU" judge "$option" evil.log
  expect_harmless out
  expect_harmless err
  run "$PLATEAU" judge "$option" "$name" evil.log
  expect_harmless out
  expect_harmless err
done
run "$PLATEAU" judge --json "$name"
expect_harmless out
expect_one_line out
run "$PLATEAU" convert evil.log
expect_harmless err
run "$PLATEAU" judge "$(printf 'no\033[31msuch\nfile')"
expect_code 2
expect_harmless err
expect_one_line err
