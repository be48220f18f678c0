#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The live screen in a real terminal: keys, sizes, and a terminal given back on every way out.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
: "${LIVE_DEMO:?path of live_demo}"

# A server per round: one that is going down would take the next round's session along.
export TMUX_TMPDIR=$SCRATCH
round=0
mux() { tmux -L "plateau-live-$$-$round" -f /dev/null "$@"; }
trap 'mux kill-server 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT

# wait_for TEXT: until the pane shows it; the last picture is left in the file pane.
wait_for() {
  local try
  for ((try = 0; try < 200; try++)); do
    mux capture-pane -p -t live >pane
    if grep -qF -- "$1" pane; then return 0; fi
    sleep 0.05
  done
  fail "'$1' did not appear:
$(cat pane)"
}

# flag NAME VALUE: until tmux says that of the pane.
flag() {
  local try
  for ((try = 0; try < 200; try++)); do
    if [ "$(mux display -p -t live "#{$1}")" = "$2" ]; then return 0; fi
    sleep 0.05
  done
  fail "$1 is $(mux display -p -t live "#{$1}") instead of $2"
}

# What a size change does not touch.
modes() { echo "stty -a | sed 's/rows.*columns [0-9]*;//'"; }

# start: a shell at 80x24 in which the demo runs; afterwards come its exit code and the modes.
# The demo's pid is in the file pid, the modes before and after it in before and after.
start() {
  mux kill-server 2>/dev/null || true
  round=$((round + 1))
  rm -f pid before after code
  mux new-session -d -s live -x 80 -y 24 "env PS1='prompt> ' bash --norc --noprofile -i"
  wait_for 'prompt>'
  cat >go <<SHELL
$(modes) >before
bash -c 'echo \$\$ >pid; exec "\$0"' "$LIVE_DEMO"
echo \$? >code
$(modes) >after
echo "round $round over"
SHELL
  mux send-keys -t live '. ./go' Enter
  wait_for 's sort: tree'
  flag alternate_on 1
  flag cursor_flag 0
}

# restored CODE: the demo is gone with this code, and the terminal is as it was.
restored() {
  wait_for "round $round over"
  flag alternate_on 0
  flag cursor_flag 1
  [ "$(cat code)" -eq "$1" ] || fail "exit code $(cat code) instead of $1"
  cmp -s before after || fail "terminal modes differ:
$(diff before after)"
}

# Keys: each shows what it promises.
start
wait_for 'UNDECIDED'
wait_for 'open until step'
wait_for 'data worker'
expect_in pane '訓練 worker'
mux send-keys -t live j
wait_for '>   4242'
mux send-keys -t live Down
wait_for '>   4243'
mux send-keys -t live Enter
wait_for 'made up for this demo'
mux send-keys -t live Escape
wait_for 's sort: tree'
mux send-keys -t live s
wait_for 's sort: owned'
mux send-keys -t live '?'
wait_for 'everything about the selected process'
mux send-keys -t live Escape
wait_for 's sort: owned'
mux send-keys -t live Space
wait_for 'paused'

# Sizes: the picture follows the window, also while it is paused.
mux resize-window -t live -x 40 -y 10
wait_for 'limit 20.0 GB'
[ "$(wc -l <pane)" -eq 10 ] || fail "not ten rows"
mux resize-window -t live -x 132 -y 50
wait_for 'FDS'
expect_in pane 'Events'
mux resize-window -t live -x 1 -y 1
mux resize-window -t live -x 80 -y 24
wait_for 'Ahead '
wait_for 's sort: owned · m mark'
mux send-keys -t live q
restored 0
expect_in pane 'ended by q'

# Ways out, gentle and not.
start
mux send-keys -t live C-c
restored 130
start
kill -TERM "$(cat pid)"
restored 143
start
kill -HUP "$(cat pid)"
restored 129
start
kill -SEGV "$(cat pid)"
restored 139
start
kill -ABRT "$(cat pid)"
restored 134
start
mux send-keys -t live T
restored 134
start
mux send-keys -t live E
restored 5

# Suspended, the shell has its screen; resumed, the picture comes back.
start
mux send-keys -t live C-z
wait_for 'Stopped'
flag alternate_on 0
flag cursor_flag 1
mux send-keys -t live 'clear; fg' Enter
wait_for 's sort: tree'
flag alternate_on 1
mux send-keys -t live q
wait_for 'ended by q'
flag alternate_on 0

# The terminal goes away: so does the program.
start
pid=$(cat pid)
mux kill-server
for ((try = 0; try < 200; try++)); do
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.05
done
! kill -0 "$pid" 2>/dev/null || fail "still there without a terminal"

# Without a terminal there is no screen, but there are lines.
run "$LIVE_DEMO" </dev/null
expect_code 2
expect_in err 'needs a terminal'
run "$LIVE_DEMO" pipe
expect_code 0
expect_harmless out
[ "$(wc -l <out)" -eq 3 ] || fail "not one line a tick"
expect_in out 'open until step'
run "$LIVE_DEMO" json
[ "$(python3 -c 'import json,sys; print(sum(1 for line in sys.stdin if json.loads(line)["verdict"]))' <out)" = 3 ] ||
  fail "not three JSON objects"
