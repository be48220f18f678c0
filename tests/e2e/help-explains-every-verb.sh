#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --help teaches: usage, options, at least three examples, exit codes; for every verb, on stdout.
. "$(dirname "$0")/lib.sh"

run "$PLATEAU" --help
expect_code 0
expect_empty err
for verb in judge run watch profile try prove compare report fleet convert dump doctor completion man help; do
  expect_in out "  $verb "
done
# By what the user wants; a verb that nobody placed would come under "More".
for wish in "An answer" "A closer look" "Training" "Files" "This program"; do
  expect_in out "$wish"
done
expect_not_in out "More:"
expect_in out "Exit code:"
fits_a_terminal() {
  ! grep -nE '^.{81,}' "$1" || fail "wider than 80 columns"
}
fits_a_terminal out

for verb in judge run watch profile try prove compare report fleet convert dump doctor completion man help; do
  run "$PLATEAU" "$verb" --help
  expect_code 0
  expect_empty err
  expect_in out "Usage: plateau $verb"
  [ "$(grep -c '^  # ' out)" -ge 3 ] || fail "$verb has fewer than three examples"
  fits_a_terminal out
  cp out by-option
  run "$PLATEAU" help "$verb"
  expect_code 0
  cmp out by-option || fail "plateau help $verb differs from plateau $verb --help"
done

run "$PLATEAU" judge --help
for option in --format --examples --batch --epoch-steps --total-steps --limit --until-step \
  --until-time --replay --explain --json --expect --color --no-plot --width --quiet; do
  expect_in out "$option"
done
expect_in out "undecided"
