#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From nothing to the verdict, as a user who has Python, pip and this wheel: a fresh environment and the verdict on a log in
# less than 30 s; the same and the verdict on jobs that run already, one that leaks and one that does not, in less than 60 s.
#   tests/packages/from_nothing.sh WHEEL LOG
# Prints what it took, and the load of the machine, without which the figures say little: above 6 waiting programs a core it is
# not held to them.
set -euo pipefail
wheel=$1 log=$2
scratch=$(mktemp -d)
started=()
finish() {
  [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
  wait
  rm -rf "$scratch"
}
trap finish EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
since() { python3 -c "import sys, time; print('%.1f' % (time.time() - float(sys.argv[1])))" "$1"; }
# promised SECONDS LIMIT: on two cores a log took 5 s at a load of 9 and 29 s at one of 16, where everything waits for its turn.
promised() {
  python3 -c 'import os, sys; sys.exit(float(sys.argv[1]) >= float(sys.argv[2]) and os.getloadavg()[0] <= 6 * os.cpu_count())' "$1" "$2" ||
    fail "$2 s are promised"
}
# fresh NAME: an environment with the wheel and nothing else; no network is asked.
fresh() {
  python3 -m venv "$scratch/$1"
  "$scratch/$1/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
}

begin=$(date +%s.%N)
fresh log
code=0
"$scratch/log/bin/plateau" judge "$log" >"$scratch/verdict" || code=$?
took=$(since "$begin")
[[ $code = [013] ]] || fail "judge ended with $code"
echo "from nothing to '$(head -1 "$scratch/verdict")' on a log: $took s, load $(cut -d' ' -f1 /proc/loadavg)"
promised "$took" 30

# Two jobs that print their steps into a file; the one keeps 1 MB of every step.
cat >"$scratch/job.py" <<'PY'
import sys, time
kept = []
for step in range(1, 100_000):
    made = bytearray(b"x") * 1_000_000
    if sys.argv[1] == "LEAK":
        kept.append(made)
    print("step", step, flush=True)
    time.sleep(0.05)
PY
for word in LEAK PLATEAU; do
  python3 "$scratch/job.py" $word >"$scratch/$word.log" 2>&1 &
  started+=($!)
done
begin=$(date +%s.%N)
fresh job
# answer WORD PID: the seconds until a watcher's line has the word. A pipe gets a line every 10 s.
answer() {
  local line
  while IFS= read -r line; do
    [[ $line != *" $1 "* ]] || { since "$begin" >"$scratch/$1.took"; break; }
    echo "$line" >>"$scratch/$1.lines"
  done < <("$scratch/job/bin/plateau" watch "$2" --for 60s 2>&1)
}
answer LEAK "${started[0]}" &
leak=$!
answer PLATEAU "${started[1]}" &
plateau=$!
wait $leak $plateau
for word in LEAK PLATEAU; do
  [ -s "$scratch/$word.took" ] || fail "no $word within a minute: $(cat "$scratch/$word.lines")"
  took=$(cat "$scratch/$word.took")
  echo "from nothing to '$word' on a running job: $took s, load $(cut -d' ' -f1 /proc/loadavg)"
  promised "$took" 60
done
