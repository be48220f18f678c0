#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tokens and passwords on a job's command line are in no recording, report, page, answer or list, also
# those in recordings that an earlier version wrote; --no-redact keeps them.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

secret=hunter2hunter2
cat >job.py <<'PY'
import time
held = []
for step in range(12):
    held.append(bytearray(1000000))
    print("Step %d: loss 0.1" % step, flush=True)
    time.sleep(0.1)
PY
command=(env "HF_TOKEN=$secret" python3 job.py --password "$secret" "--api_key=$secret" "https://me:$secret@host/x"
  --max_tokens 512 --tokenizer gpt2 '')

leaves_none() {
  ! grep -qaF "$secret" "$@" || fail "the secret is in $*: $(grep -aoF "$secret" "$@" | head -1)"
}
run "$PLATEAU" run -o job.plateau -- "${command[@]}"
expect_code 0
leaves_none job.plateau out err
[ "$(stat -c %a job.plateau)" = 600 ] || fail "others may read the recording"
for verb in "judge" "judge --json" "judge --explain" "dump" "dump --records" "dump --json" "convert"; do
  # shellcheck disable=SC2086
  run "$PLATEAU" $verb job.plateau
  leaves_none out err
done
run "$PLATEAU" dump job.plateau
expect_in out "--password [redacted]"
expect_in out "--max_tokens 512 --tokenizer gpt2 ''"
run "$PLATEAU" report job.plateau -o job.html
expect_code 0
leaves_none job.html

# The page of a server, and a watcher that looks at the job from outside.
sed 's/range(12)/range(600)/' job.py >long.py
"${command[@]/job.py/long.py}" >long.log &
job=$!
trap 'kill $job 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
wait_until grep -q Step long.log
run "$PLATEAU" watch "$job" --for 1s --lines -o watched.plateau
leaves_none out err watched.plateau
run "$PLATEAU" watch "$job" --for 1s --json
leaves_none out err
"$PLATEAU" serve . --listen 127.0.0.1:0 >address 2>serve.err &
server=$!
trap 'kill $job $server 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
wait_until grep -q http address
url=$(cat address)
for path in api/runs api/page api/verdict metrics; do
  curl -s "$url$path" >served
  [ -s served ] || fail "$path says nothing"
  leaves_none served
done

run "$PLATEAU" run --no-redact -q -o kept.plateau -- "${command[@]}"
expect_code 0
grep -qaF "$secret" kept.plateau || fail "--no-redact did not keep the secret"
run "$PLATEAU" dump kept.plateau
expect_in out "$secret"
expect_in out "secrets in its command line and names were kept (--no-redact)"
