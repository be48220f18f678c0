#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal: tree, roles, verdict and keys on 80x24; a mark lands in the recording; q leaves the
# screen and prints the verdict; the terminal is as before.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >train.py <<'PY'
import time
kept = []
for step in range(1, 2001):
    kept.append(bytearray(100_000))
    print(f"Step {step}: loss 0.5", flush=True)
    time.sleep(0.01)
PY
/usr/bin/python3 train.py >train.log 2>&1 &
job=$!
tmux="tmux -S $SCRATCH/tmux"
trap 'kill $job 2>/dev/null || true; $tmux kill-server 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
$tmux new-session -d -x 80 -y 24 "env PS1='ready> ' bash --norc"
$tmux send-keys "stty -a >before; $PLATEAU watch $job -o seen.plateau; echo code \$?; stty -a >after" Enter

# shows TEXT: waits until the screen shows it.
shows() {
  for _ in $(seq 100); do
    $tmux capture-pane -p >screen
    if grep -qF -- "$1" screen; then return; fi
    sleep 0.1
  done
  fail "'$1' is not on the screen:
$(cat screen)"
}
shows "train.py"
shows "main"
shows "UNDECIDED"
shows "step "
$tmux send-keys m
shows "mark at step"
$tmux resize-window -x 132 -y 40
shows "ROLE"
$tmux send-keys q
shows "code "
for _ in $(seq 50); do [ -s after ] && break; sleep 0.1; done
# The window was resized in between; all else must be as it was.
diff <(sed 's/rows [0-9]*; columns [0-9]*;//' before) <(sed 's/rows [0-9]*; columns [0-9]*;//' after) \
  || fail "the terminal was not restored"
kill -0 "$job" || fail "the job was disturbed"
run "$PLATEAU" dump --records seen.plateau
expect_in out "mark at step"
