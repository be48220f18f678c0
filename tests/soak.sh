#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A day of watching in an hour: a job is watched with ten times the samples, and what watches it is
# watched too. Its own memory must be what `plateau judge` calls a plateau.
#
#   PLATEAU=$PWD/build/release/plateau SOURCE_DIR=$PWD bash tests/soak.sh [MINUTES]
#
# MINUTES: 60 if nothing is said. At its steady rate a recorder takes a sample a second; here it takes ten,
# 36,000 in an hour, and hears 20 steps a second, 72,000 in an hour, which a training seldom has in a day.
# The job forks a worker every half minute that lives three seconds, and holds a level of memory that goes up
# and down. A server shows the recording all the while and is asked for it every few seconds.
# It uses about a fifth of one core, and exits with 1 unless both are called a plateau. The folder that it
# names at its end has job.plateau and the tables that were judged.
set -euo pipefail
: "${PLATEAU:?path of the plateau binary}"
: "${SOURCE_DIR:?path of the repository}"
minutes=${1:-60}
case $minutes in '' | *[!0-9]*) echo "soak.sh: MINUTES must be a whole number" >&2; exit 2 ;; esac
folder=$(mktemp -d --suffix=.soak)
cd "$folder"

cat >job.py <<'PY'
# Steps at 20 a second, each holding and giving back a little; a worker now and then; marks.
import os, random, sys, time
end = time.monotonic() + 60 * float(sys.argv[1])
random.seed(7)
held = [bytearray(random.randrange(1, 400_000)) for _ in range(64)]
step = 0
while time.monotonic() < end:
    held[step % len(held)] = bytearray(random.randrange(1, 400_000))
    print(f"Step {step}: loss {1 / (1 + step):.4f}", flush=True)
    if step % 600 == 599 and os.fork() == 0:
        block = bytearray(8_000_000)
        time.sleep(3)
        os._exit(len(block) % 2)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    step += 1
    time.sleep(0.05)
PY

"$PLATEAU" run --interval 0.1 -o job.plateau -- python3 job.py "$minutes" >job.out 2>job.err &
recorder=$!
"$PLATEAU" serve --listen 127.0.0.1:0 "$folder" >serve.out 2>&1 &
server=$!
trap 'kill "$recorder" "$server" 2>/dev/null || true' EXIT

# What each of the two holds, once a second, as a table that judge reads; the server is asked meanwhile.
cat >sample.py <<'PY'
import sys, time, urllib.request
pids = {"recorder": int(sys.argv[1]), "server": int(sys.argv[2])}
files = {name: open(name + ".csv", "w", buffering=1) for name in pids}
for file in files.values():
    print("t_s,rss_kib,anon_kib", file=file)
began = time.monotonic()
asked = 0
def status(pid):
    fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status") if ":" in line)
    return [int(fields[name].split()[0]) for name in ("VmRSS", "RssAnon")]
while True:
    for name, pid in list(pids.items()):
        try:
            print(f"{time.monotonic() - began:.1f}", *status(pid), sep=",", file=files[name])
        except (OSError, KeyError):
            if name == "recorder":
                print(f"the server was asked {asked} times")
                sys.exit(0)
            sys.exit("the server is gone")
    if int(time.monotonic() - began) % 5 == 0:
        for path in ("api/runs", "api/page", "metrics"):
            urllib.request.urlopen(sys.argv[3] + path, timeout=30).read()
            asked += 1
    time.sleep(1)
PY
for _ in $(seq 100); do
  url=$(grep -o 'http://[0-9.:]*/' serve.out | head -1) || true
  [ -z "$url" ] || break
  sleep 0.1
done
[ -n "$url" ] || { echo "soak.sh: the server does not start: $(cat serve.out)" >&2; exit 1; }
for _ in $(seq 300); do
  [ ! -s job.plateau ] || break
  sleep 0.1
done
python3 sample.py "$recorder" "$server" "$url"
wait "$recorder"

bad=0
for name in recorder server; do
  "$PLATEAU" judge --json "$name.csv" >"$name.json" 2>"$name.err" || true
  verdict=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$name.json")
  awk -F, -v name="$name" -v verdict="$verdict" 'NR == 2 { first = $3 } NR > 1 { last = $3; if ($3 > most) most = $3 }
    END { printf "%s: %s; anonymous memory %.1f MB at first, %.1f at the end, %.1f at most, %d samples\n", name, verdict,
          first * 1024 / 1e6, last * 1024 / 1e6, most * 1024 / 1e6, NR - 1 }' "$name.csv"
  [ "$verdict" = plateau ] || bad=1
done
"$PLATEAU" judge --json job.plateau >job.json 2>job.judge.err || true
python3 -c 'import json; print("the job:", json.load(open("job.json"))["verdict"])'
stat -c %s job.plateau | awk '{ printf "its recording: %.1f MB\n", $1 / 1e6 }'
echo "everything is in $folder"
exit $bad
