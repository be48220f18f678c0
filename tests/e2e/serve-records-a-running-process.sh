#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `plateau serve PID`: a job that nobody records is recorded for as long as it is served, into a
# private place that is gone afterwards; one that a plateau records already is followed there.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

export TMPDIR=$SCRATCH/tmp
mkdir "$TMPDIR"
cat >train.py <<'PY'
import os, time
while not os.path.exists("enough"):
    time.sleep(0.05)
PY
server=
# shellcheck disable=SC2016
trap 'touch enough; kill $server 2>/dev/null || true; wait; rm -rf "$SCRATCH"' EXIT

/usr/bin/python3 train.py &
pid=$!
"$PLATEAU" serve "$pid" --listen 127.0.0.1:0 >address 2>serve.err &
server=$!
wait_until grep -q http address
expect_in serve.err "recording the job of process $pid"
[ "$(stat -c %a "$TMPDIR"/plateau-serve-*)" = 700 ] || fail "others may read the recording"
listed() { curl -sf "$(cat address)api/runs" | grep -q "\"name\":\"pid-$pid.plateau\",\"live\":true"; }
wait_until listed

# A second one follows the first one's recording.
"$PLATEAU" serve "$pid" --listen 127.0.0.1:0 >second 2>second.err &
second=$!
wait_until grep -q http second
expect_in second.err "following $TMPDIR"
kill -INT "$second"
wait "$second" || fail "Ctrl-C is a good end: $(cat second.err)"

recorder=$(pgrep -P "$server")
kill -TERM "$server"
status=0
wait "$server" || status=$?
[ "$status" -eq 0 ] || fail "serve ended with $status: $(cat serve.err)"
gone "$recorder" || fail "the recorder outlived the server"
[ -z "$(ls -A "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"
kill -0 "$pid" || fail "the job was touched"
