#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# judge -f says the word when it changes, follows a rotation, and gives the whole answer when it is
# interrupted; judge - on a pipe says so far on standard error, and its answer on standard output.
. "$(dirname "$0")/lib.sh"

line() { echo "step $(($1 * 10)) rss $((500 + $1 * 9)) MB"; }

for i in $(seq 0 19); do line "$i"; done >train.log
"$PLATEAU" judge -f train.log --epoch-steps 50 >said 2>errors &
follower=$!
sleep 3
mv train.log train.log.1
for i in $(seq 20 60); do line "$i"; done >train.log
sleep 4
kill -INT "$follower"
code=0
wait "$follower" || code=$?
[ "$code" -eq 1 ] || fail "a leak ends with 1, not $code: $(cat said errors)"
grep -q '^LEAK ' said || fail "the word was not said: $(cat said)"
grep -q 'over steps 0–600' said || fail "the rotated part was not read on: $(cat said)"

{ for i in $(seq 0 30); do line "$i"; done; sleep 4; line 31; } | "$PLATEAU" judge -q - >answer 2>so_far || true
grep -q '^so far: ' so_far || fail "nothing was said while the pipe was open: $(cat so_far)"
[ "$(wc -l <answer)" -eq 1 ] || fail "one answer at the end: $(cat answer)"
