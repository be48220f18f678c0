#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Once a job has ended, neither the terminal nor the page speaks of what is still to come from it, and
# the rate is that of the processes that were left.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

cat >leak.py <<'PY'
import time
kept = []
for step in range(1, 81):
    kept.append(bytearray(b"x") * 1_000_000)
    print("step", step, flush=True)
    time.sleep(0.03)
PY
# The job and two workers keep 0.4 MB a step each; the workers end twenty steps before it.
cat >workers.py <<'PY'
import multiprocessing, time
def work(steps):
    kept = []
    for _ in range(steps):
        kept.append(bytearray(b"x") * 400_000)
        time.sleep(0.03)
if __name__ == "__main__":
    workers = [multiprocessing.Process(target=work, args=(120,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    kept = []
    for step in range(1, 161):
        kept.append(bytearray(b"x") * 400_000)
        print("step", step, flush=True)
        time.sleep(0.03)
PY

said_of() {
  "$PLATEAU" judge --explain "$1" || true
  "$PLATEAU" judge --json "$1" || true
  "$PLATEAU" report "$1" -o page.html || true
  python3 -c '
import base64, gzip, re
page = open("page.html", encoding="utf-8").read()
print(re.search(r"<noscript>(.*?)</noscript>", page, re.S)[1])
print(gzip.decompress(base64.b64decode(re.search(r"id=\"plateau-data\"[^>]*>([^<]*)<", page)[1])).decode())'
}

for name in leak workers; do
  run "$PLATEAU" run -o $name.plateau --epoch-steps 20 -- python3 $name.py
  expect_code 0
  said_of $name.plateau >said 2>&1
  cat err said | tr -s ' \n' ' ' >all
  for word in "at the earliest" "try PID" "profile PID" "When the run ends is not known"; do
    expect_not_in all "$word"
  done
done

run "$PLATEAU" judge --json workers.plateau
python3 - <<'PY'
import json
said = json.load(open("out"))
rates = [said["current_rate_mb_per_step"], said["components"][0]["rate_mb_per_step"]]
assert all(abs(rate - 0.4) < 0.06 for rate in rates), rates
PY
