#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal the job has one: isatty, its size and size changes, redrawn lines, keys, Ctrl-C,
# Ctrl-Z and fg; and a job in the background leaves the shell's terminal alone.
# shellcheck disable=SC2016 # What is quoted is for another shell to expand.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

export TMUX_TMPDIR=$SCRATCH PLATEAU
mux() { tmux -L "plateau-run-$$" -f /dev/null "$@"; }
trap 'mux kill-server 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
shows() { mux capture-pane -p -t run | grep -qE -- "$1"; }
wait_for() {
  local try
  for ((try = 0; try < 300; try++)); do
    if shows "$1"; then return 0; fi
    sleep 0.05
  done
  fail "'$1' did not appear:
$(mux capture-pane -p -t run)"
}
# type_line TEXT: as if typed, with Enter.
type_line() { mux send-keys -t run -l -- "$1" && mux send-keys -t run Enter; }
clean() { type_line "clear; echo cl''ean" && wait_for '^clean' && type_line clear; }

mux new-session -d -s run -x 100 -y 30 "env PS1='ready> ' bash --norc --noprofile -i"
wait_for 'ready>'
type_line 'run() { "$PLATEAU" run -q --no-recording "$@"; }'

cat >tty.py <<'PY'
import os, sys
print("tty", os.isatty(0), os.isatty(1), os.isatty(2), os.get_terminal_size(1).columns,
      os.get_terminal_size(2).lines)
PY
type_line 'run -- python3 tty.py'
wait_for '^tty True True True 100 30'
clean

# A size change arrives, with its signal.
cat >size.py <<'PY'
import os, signal, time
told = []
signal.signal(signal.SIGWINCH, lambda number, frame: told.append(os.get_terminal_size(1)))
print("wait", "ing", sep="", flush=True)
while not os.path.exists("sized"):
    # Signals may come one in another, so the handler does not print.
    while told:
        size = told.pop(0)
        print("now", size.columns, size.lines, flush=True)
    time.sleep(0.02)
PY
type_line 'run -- python3 size.py'
wait_for '^waiting'
mux resize-window -t run -x 90 -y 25
wait_for '^now 90 25'
touch sized
wait_for '^ready>$'
clean

# A progress bar redraws its line.
cat >bar.py <<'PY'
import sys, time
for i in range(1, 101):
    sys.stdout.write("\r%3d%% of it" % i)
    sys.stdout.flush()
    time.sleep(0.003)
print()
PY
type_line 'run -- python3 bar.py'
wait_for '^100% of it'
! shows '99% of it' || fail "the bar's line is not redrawn: $(mux capture-pane -p -t run)"
clean

# The job reads what is typed.
type_line "run -- sh -c 'read word; echo \"got \$word\"'"
sleep 0.5
type_line 'hello'
wait_for '^got hello'
clean

# Ctrl-C runs the job's handler, and its code is passed on.
cat >int.py <<'PY'
import signal, sys, time
def handler(number, frame):
    print("saving", flush=True)
    sys.exit(9)
signal.signal(signal.SIGINT, handler)
print("trai", "ning", sep="", flush=True)
time.sleep(60)
PY
type_line 'run -- python3 int.py; echo code $?'
wait_for '^training'
mux send-keys -t run C-c
wait_for 'saving'
wait_for '^code 9'
clean

# Ctrl-C is no failure to start over from.
type_line 'run --restart 3 -- sleep 60; echo code $?'
sleep 0.7
mux send-keys -t run C-c
wait_for '^code 130'
! shows again || fail "started again after Ctrl-C: $(mux capture-pane -p -t run)"
clean

# Ctrl-Z stops both, fg goes on with both, twice; then the job ends by itself.
cat >stop.py <<'PY'
import os, time
print("work", "ing", sep="", flush=True)
while not os.path.exists("enough"):
    time.sleep(0.02)
print("fini", "shed", sep="", flush=True)
PY
type_line 'run -- python3 stop.py; echo code $?'
wait_for '^working'
mux send-keys -t run C-z
wait_for 'Stopped'
clean
type_line 'fg'
sleep 0.5
mux send-keys -t run C-z
wait_for 'Stopped'
clean
type_line 'fg'
touch enough
wait_for '^finished'
type_line 'echo still "here"'
wait_for '^still here'
clean

# The same inside a script: one Ctrl-Z stops the script, too.
rm -f enough
echo '"$PLATEAU" run -q --no-recording -- python3 stop.py; echo script ends' >script.sh
type_line 'bash script.sh'
wait_for '^working'
mux send-keys -t run C-z
wait_for 'Stopped'
clean
type_line 'fg'
touch enough
wait_for '^finished'
wait_for '^script ends'
clean

# In the background it takes nothing: the shell goes on reading its terminal when the job ends.
rm -f enough
type_line 'run -- python3 stop.py & cat'
wait_for '^working'
touch enough
wait_for '^finished'
sleep 0.5
type_line 'typed for cat'
sleep 0.3
[ "$(mux capture-pane -p -t run | grep -c '^typed for cat')" -eq 2 ] || fail "the job in the background took the terminal:
$(mux capture-pane -p -t run)"
mux send-keys -t run C-d
clean

# Brought to the foreground, it may read the terminal after all.
type_line "run -- sh -c 'read word; echo \"got \$word\"' &"
wait_for 'Stopped|^ready>$'
sleep 0.5
type_line 'fg'
sleep 0.5
type_line 'late'
wait_for '^got late'
clean

# Without a shell to wake it, Ctrl-Z cannot leave the job stopped for ever.
rm -f enough
mux respawn-window -k -t run "'$PLATEAU' run -q --no-recording -- python3 stop.py; echo over; sleep 60"
wait_for '^working'
mux send-keys -t run C-z
sleep 0.5
touch enough
wait_for "finished$"
