#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `plateau run` puts its module first on the job's PYTHONPATH, keeps what was there, and stays out when asked to. What
# the module then learns is tested on the real frameworks in tests/stack/.
. "$(dirname "$0")/lib.sh"

is_in='import sys; print("plateau_auto" in sys.modules)'

run "$PLATEAU" run --no-recording -q -- python3 -c "$is_in"
[ "$(cat out)" = True ] || fail "the module is not in the job: $(cat out err)"

run "$PLATEAU" run --no-auto --no-recording -q -- python3 -c "$is_in"
[ "$(cat out)" = False ] || fail "--no-auto does not keep it out"

PLATEAU_AUTO=0 run "$PLATEAU" run --no-recording -q -- python3 -c "$is_in"
[ "$(cat out)" = False ] || fail "PLATEAU_AUTO=0 does not keep it out"

# As installed among other programs, one of which is named python as the module's folder is.
mkdir -p tree/bin tree/lib/plateau
cp "$PLATEAU" tree/bin/plateau
cp -R "$(dirname "$PLATEAU")/python" tree/lib/plateau/python
ln -s "$(command -v python3)" tree/bin/python
run tree/bin/plateau run --no-recording -q -- tree/bin/python -c "$is_in"
[ "$(cat out)" = True ] || fail "a program named python was taken for the module: $(cat out err)"

# An interpreter that does not look at the path runs as without us.
run "$PLATEAU" run --no-recording -q -- python3 -I -c "$is_in"
[ "$(cat out)" = False ] || fail "-I was not respected"
[ "$code" = 0 ] || fail "the job ended with $code"

# The user's own path and their own sitecustomize are there, in their order.
mkdir own other
echo 'import builtins; builtins.mine = "mine"' >own/sitecustomize.py
PYTHONPATH=$PWD/own:$PWD/other run "$PLATEAU" run --no-recording -q -- python3 -c \
  'import os; print(mine, ":".join(os.environ["PYTHONPATH"].split(":")[1:]))'
[ "$(cat out)" = "mine $PWD/own:$PWD/other" ] || fail "the user's path is not as it was: $(cat out)"

# One watcher in another brings it once.
run "$PLATEAU" run --no-recording -q -- "$PLATEAU" run --no-recording -q -- python3 -c \
  'import os; print(len(os.environ["PYTHONPATH"].split(":")))'
[ "$(cat out)" = 1 ] || fail "it is on the path twice: $(cat out)"

# Steps that the job says itself are the clock, whatever the module would have said.
cat >job.py <<'PY'
import os, socket, time
to = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
def say(text):
    to.sendto(text.encode(), os.environ["PLATEAU_SOCKET"])
    time.sleep(0.05)
say("run epoch_steps=83 batch=8 source=the_DataLoader from=auto")
say("step 3 from=auto")
say("run batch=16")
for step in range(10, 22):
    say("step %d" % step)
say("step 900 from=auto")
time.sleep(0.3)
PY
run "$PLATEAU" run -o job.plateau -q -- python3 job.py
"$PLATEAU" judge --json job.plateau >answer 2>err || true
python3 - <<'PY' || fail "users' words do not win: $(cat answer)"
import json
answer = json.loads(open("answer").read())
assert answer["steps"]["last"] == 21, answer["steps"]
assert answer["epoch_steps"] == 83, answer["epoch_steps"]
PY

# A script that sets the path anew keeps it out, which is told of a process that has a framework, with the reason.
truncate -s 4096 libtorch_python.so
cat >framework.py <<'PY'
import mmap, time
with open("libtorch_python.so", "rb") as file:
    library = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
time.sleep(6)
PY
# shellcheck disable=SC2016
run "$PLATEAU" run --no-recording -- sh -c 'PYTHONPATH=src python3 framework.py'
tr -s ' \n' ' ' <err >words
expect_in words "the job sets PYTHONPATH anew"
run "$PLATEAU" run --no-recording -- python3 framework.py
expect_not_in err "the module is not in"
