#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --on-leak runs its command once, with the answer; --on-verdict posts it at each change and at the
# end. Names that a job gives itself are never part of a command, addresses never in what is said or
# kept, and whoever does not answer changes nothing for the job but a line.
# shellcheck disable=SC2016  # Variables are for the command that is told.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
export no_proxy='*'

touch requests
python3 "$SOURCE_DIR/tests/stand_in/http_server.py" requests >port &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
wait_until test -s port
port=$(cat port)
url=http://127.0.0.1:$port

# Its own name would be a command, if it were ever read as one.
evil='x$(touch pwned)`touch pwned`;touch pwned;".py'
cat >"$evil" <<'PY'
import sys, time
hold = []
for step in range(1, int(sys.argv[2]) + 1):
    hold.append(bytearray(b"x") * int(1e6 * float(sys.argv[1])))
    print("Step %d: loss 0.3" % step, flush=True)
    time.sleep(0.03)
sys.exit(int(sys.argv[3]))
PY

printf '%s/echo?token=hunter2hunter2\n' "$url" >webhook.txt
printf 'Authorization: Bearer abcdefghijkl\n\nX-Other: yes\n' >headers.txt
run "$PLATEAU" run --no-plot -o leak.plateau --epoch-steps 20 --on-verdict @webhook.txt --on-verdict-headers headers.txt \
  --on-leak 'echo "$PLATEAU_VERDICT:$PLATEAU_PID:$PLATEAU_RECORDING:$PLATEAU_STEP" >>told; cat >answer.json; echo to the user' \
  -- python3 "$evil" 2 160 7
expect_code 7
[ ! -e pwned ] || fail "a name was run as a command"
[ "$(wc -l <told)" -eq 1 ] || fail "not told exactly once: $(cat told)"
grep -qE '^leak:[0-9]+:leak\.plateau:[0-9]+$' told || fail "the variables are not there: $(cat told)"
expect_in err "to the user"
expect_not_in err "on-leak:"
expect_not_in err "on-verdict:"
python3 - <<'PY' || fail "what was sent is not the answer"
import json
answer = json.load(open("answer.json"))
assert answer["verdict"] == "leak", answer["verdict"]
posts = [json.loads(line) for line in open("requests")]
assert posts, "nothing was posted"
bodies = [json.loads(post["body"]) for post in posts]
assert [body["event"] for body in bodies[-1:]] == ["end"], bodies[-1]["event"]
assert bodies[-1]["verdict"] == "leak" and bodies[-1]["text"].startswith("LEAK"), bodies[-1]["text"]
assert all(a["verdict"] != b["verdict"] for a, b in zip(bodies[:-1], bodies[1:-1])), "posted without a change"
for post in posts:
    assert post["method"] == "POST" and post["headers"]["Authorization"] == "Bearer abcdefghijkl", post
    assert post["headers"]["Content-Type"] == "application/json" and post["headers"]["X-Other"] == "yes", post
PY
"$PLATEAU" dump --records leak.plateau >dumped
cat err dumped >kept
expect_not_in kept hunter2
expect_not_in kept abcdefghijkl

short() { run "$PLATEAU" run --no-plot --no-recording -q "$@" -- python3 "$evil" 0 3 0; }
# Tried again where that may help,
short --on-verdict "$url/flaky"
expect_code 0
expect_not_in err "on-verdict"
# not where it was refused.
short --on-verdict "$url/status/403?token=hunter2"
expect_code 0
expect_in err "--on-verdict: $url/… answers with status 403"
expect_not_in err hunter2
[ "$(grep -c '/status/403' requests)" -eq 1 ] || fail "a refusal was tried again"
short --on-verdict "$url/redirect"
expect_in err "leads elsewhere"
short --on-verdict "http://127.0.0.1:1/T00/hunter2"
expect_code 0
expect_in err "--on-verdict: http://127.0.0.1:1/…"
expect_not_in err hunter2

# Over TLS to whom the machine, or SSL_CERT_FILE, trusts; to nobody else.
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
  -addext subjectAltName=IP:127.0.0.1 2>/dev/null
python3 "$SOURCE_DIR/tests/stand_in/http_server.py" sealed cert.pem key.pem >tls_port &
tls=$!
trap 'kill $server $tls 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
wait_until test -s tls_port
SSL_CERT_FILE=$PWD/cert.pem short --on-verdict "https://127.0.0.1:$(cat tls_port)/echo"
expect_not_in err "on-verdict"
expect_in sealed '"method": "POST"'
short --on-verdict "https://127.0.0.1:$(cat tls_port)/stranger"
expect_in err "certificate"
expect_not_in sealed stranger

# A command that fails is said, and changes nothing else.
run "$PLATEAU" run --no-plot --no-recording -q --epoch-steps 20 --on-leak 'exit 3' -- python3 "$evil" 2 160 0
expect_code 0
expect_in err "--on-leak: ended with exit code 3"
# Nothing is left of either.
[ -z "$(pgrep -P $$ plateau || true)" ] || fail "a process of ours is left"

for wrong in "--on-verdict ftp://h/x" "--on-verdict @no-such-file" "--on-verdict-headers headers.txt" "--on-leak="; do
  # shellcheck disable=SC2086
  run "$PLATEAU" run $wrong -- true
  expect_code 2
  expect_one_line err
done

# watch tells as run does.
python3 "$evil" 2 200 0 >watched.log &
job=$!
run "$PLATEAU" watch "$job" --epoch-steps 20 --for 20s -q --on-verdict "$url/watched" --on-leak 'echo "$PLATEAU_VERDICT" >watched-told'
wait "$job" || true
grep -q LEAK out && { [ -s watched-told ] || fail "a leak was not told: $(cat out err)"; }
expect_in requests '/watched'
