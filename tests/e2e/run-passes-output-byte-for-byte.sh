#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the job writes arrives unchanged: 20 MB of random bytes, both streams, their order where
# they share a place, a slow reader, a reader that goes away, a closed standard output.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

head -c 20000000 /dev/urandom >bytes

"$PLATEAU" run -q --no-recording -- cat bytes >copy 2>err || fail "cat fails: $(cat err)"
cmp bytes copy || fail "20 MB of standard output are not the same in a file"
"$PLATEAU" run -q --no-recording -- cat bytes 2>err | cat >copy
cmp bytes copy || fail "20 MB of standard output are not the same through a pipe"

# The verdict stands behind the job's own bytes on standard error.
"$PLATEAU" run -q --no-recording -- sh -c 'cat bytes >&2' 2>copy
head -c 20000000 copy | cmp - bytes || fail "20 MB of standard error are not the same"
[ "$(tail -c +20000001 copy | wc -l)" -eq 1 ] || fail "more than one line follows the job's bytes"

cat >both.py <<'PY'
import os
for i in range(20000):
    os.write(1 + i % 2, b"%d\n" % i)
PY
"$PLATEAU" run -q --no-recording -- python3 both.py >together 2>&1
seq 0 19999 >wanted
head -n 20000 together | cmp - wanted || fail "the order of two streams in one place changed"
"$PLATEAU" run -q --no-recording -- python3 both.py >even 2>odd
seq 0 2 19999 | cmp - even || fail "standard output alone is not what was written"
seq 1 2 19999 >wanted
head -n 10000 odd | cmp - wanted || fail "standard error alone is not what was written"

# Somebody who reads late still gets all of it, and before plateau is done.
"$PLATEAU" run -q --no-recording -- head -c 300000 bytes 2>err | (sleep 4 && cat) >copy
head -c 300000 bytes | cmp - copy || fail "a slow reader loses bytes"
{ "$PLATEAU" run -q --no-recording -- head -c 300000 bytes; touch finished; } 2>err |
  { sleep 3; [ ! -e finished ] || touch early; cat >copy; }
[ ! -e early ] || fail "plateau ended while its output was still on its way"

# A reader that goes away ends the job as without us: by SIGPIPE.
codes=$("$PLATEAU" run -q --no-recording -- sh -c 'yes; echo $? >yes-code' 2>err | head -n 1)
[ "$codes" = y ] || fail "head got '$codes'"
wait_until test -s yes-code
[ "$(cat yes-code)" = 141 ] || fail "yes ended with $(cat yes-code) instead of 141 (SIGPIPE)"

# A closed standard output does not become the recording.
"$PLATEAU" run -q -o closed.plateau -- sh -c 'echo lost; sleep 0.3' >&- 2>err || true
"$PLATEAU" judge --json closed.plateau >out 2>err || true
! grep -q lost closed.plateau || [ "$(grep -ao lost closed.plateau | wc -l)" -eq 1 ] || fail "output in the recording"
expect_in out '"verdict"'
"$PLATEAU" dump closed.plateau >out || fail "the recording of a job without standard output is damaged"
expect_not_in out damaged

# Standard input is the job's.
[ "$(seq 5 | "$PLATEAU" run -q --no-recording -- wc -l 2>err)" -eq 5 ] || fail "stdin is not read"

# The job inherits no descriptor that it would not have without us.
bare=$(sh -c 'ls /proc/self/fd | wc -l')
watched=$("$PLATEAU" run -q -o fds.plateau -- sh -c 'ls /proc/self/fd | wc -l' 2>err)
[ "$bare" -eq "$watched" ] || fail "the job holds $watched descriptors instead of $bare"
