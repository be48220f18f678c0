#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A watched job names paths in its environment and by its output. Whatever they are, watch, serve and
# try remove, replace and write nothing there, but for a socket of the watcher's own user in a
# directory that nobody else can change.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

started=()
trap 'kill "${started[@]}" 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
job_with() {
  PLATEAU_SOCKET=$1 setsid sleep 60 &
  job=$!
  started+=("$job")
  wait_until grep -qaF "PLATEAU_SOCKET=$1" "/proc/$job/environ"
}

mkdir -m 0777 open
echo precious >file
ln -s "$PWD/file" link
mkdir directory
python3 -c "
import socket
for path in ('open/left',):
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind(path)
"
for name in file link directory open/left open/new; do
  job_with "$PWD/$name"
  ls -l --time-style=full-iso file link open >before
  run "$PLATEAU" watch "$job" --for 1s -q
  [ "$code" -ne 2 ] || fail "watch: $(cat err)"
  rm -f address  # Of the server before.
  "$PLATEAU" serve "$job" --listen 127.0.0.1:0 >address 2>serve.err &
  server=$!
  started+=("$server")
  wait_until grep -qs http address
  kill "$server"
  wait "$server" || true
  run "$PLATEAU" try "$job" trim --look 0.1s --timeout 2s
  ls -l --time-style=full-iso file link open >after
  cmp before after || fail "$name: something changed: $(diff before after)"
  [ "$(cat file)" = precious ] || fail "$name: the file changed"
  kill "$job"
done

# What was left behind by a watcher of ours is taken up again, and goes with the watcher.
mkdir -m 0700 own
python3 -c "
import socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind('own/steps')
"
job_with "$PWD/own/steps"
run "$PLATEAU" watch "$job" --for 1s -q
[ ! -e own/steps ] || fail "the watcher's socket outlived it"
kill "$job"

# As root: a job of another user names what is root's, and root's watcher leaves it alone.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  chmod 0755 "$SCRATCH"
  mkdir -m 0755 roots
  python3 -c "
import socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind('roots/left')
"
  PLATEAU_SOCKET=$PWD/roots/left:$PWD/roots/new setsid setpriv --reuid 65534 --regid 65534 --clear-groups sleep 60 &
  job=$!
  started+=("$job")
  wait_until grep -qaF "PLATEAU_SOCKET=" "/proc/$job/environ"
  sleep 0.2
  run "$PLATEAU" watch "$job" --for 1s -q
  [ -S roots/left ] || fail "root removed a socket that another user's job named"
  [ ! -e roots/new ] || fail "root made a socket where another user's job wished"
fi
