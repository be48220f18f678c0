#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hosts.sh N inside|outside EPOCHS [KILLED]: real torchrun over N hosts, one rank each, which are network namespaces joined by a
# switch, each with a host name of its own. Rank 1 leaks. `inside` has torchrun start a `plateau run` for each rank, `outside` has
# a `plateau run` on each host start torchrun. With KILLED that host is killed in mid-job, agent and rank, and started anew:
# the others wait for it and all resume from the checkpoint. Then `judge` must give one verdict of all recordings: rank 1 leaks,
# the others are level, and a restart is no release; `report` must put them on one page. Inside, every rank also pushes to a real
# VictoriaMetrics on the switch, if there is one, and `fleet --job` must say the same of what it holds.
#   PLATEAU=build/release/plateau bash tests/ranks/hosts.sh 4 inside 10 2     about a minute on two cores
#   PLATEAU=build/release/plateau bash tests/ranks/hosts.sh 2 outside 8       the one that CI runs
# Needs root, for the namespaces, and the packages of tools/setup.sh stack; 77 (skipped) without. KEEP=dir keeps what was made.
set -euo pipefail
hosts=$1 where=$2 epochs=$3 killed=${4:-}
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
PLATEAU=$(realpath "$PLATEAU")
[ "$(id -u)" = 0 ] || { echo "skipped: network namespaces take root"; exit 77; }
command -v ip >/dev/null || { echo "skipped: iproute2 is not installed"; exit 77; }
python=$("$source_dir/tools/stack.sh" 2>/dev/null) || { echo "skipped: tools/setup.sh stack installs the packages"; exit 77; }
ip netns add "plateau-$$-try" 2>/dev/null || { echo "skipped: this machine lets nobody make network namespaces"; exit 77; }
ip netns delete "plateau-$$-try"

OUT=${KEEP:-$(mktemp -d)}
mkdir -p "$OUT"
agents=()
# A host that loses its power: the agent, the watcher and the rank, whatever sessions they are in.
kill_host() { ip netns pids "plateau-$$-$1" 2>/dev/null | xargs -r kill -9 2>/dev/null || true; }
finish() {
  for host in $(seq 0 $((hosts - 1))); do
    kill_host "$host"
    ip netns delete "plateau-$$-$host" 2>/dev/null || true
  done
  kill_host switch
  ip netns delete "plateau-$$-switch" 2>/dev/null || true
  [ -n "${KEEP:-}" ] || rm -rf "$OUT"
}
trap finish EXIT
fail() {
  echo "hosts.sh: $*" >&2
  tail -n 15 "$OUT"/host*.log >&2 || true
  exit 1
}

# The switch and what hangs on it.
ip netns add "plateau-$$-switch"
ip -n "plateau-$$-switch" link add switch type bridge
ip -n "plateau-$$-switch" link set switch up
for host in $(seq 0 $((hosts - 1))); do
  name=plateau-$$-$host
  ip netns add "$name"
  ip -n "$name" link add eth0 type veth peer name "port$host" netns "plateau-$$-switch"
  ip -n "plateau-$$-switch" link set "port$host" master switch up
  ip -n "$name" address add "10.77.0.$((host + 1))/24" dev eth0
  ip -n "$name" link set lo up
  ip -n "$name" link set eth0 up
done

# The database, reached by all.
database=
if [ "$where" = inside ] && command -v victoria-metrics >/dev/null; then
  database=http://10.77.0.254:8428
  ip -n "plateau-$$-switch" address add 10.77.0.254/24 dev switch
  ip -n "plateau-$$-switch" link set lo up
  ip netns exec "plateau-$$-switch" victoria-metrics -storageDataPath="$OUT/victoria" -httpListenAddr=10.77.0.254:8428 \
    -loggerLevel=ERROR >"$OUT/victoria.log" 2>&1 &
fi

echo "127.0.0.1 localhost" >"$OUT/hosts"
for host in $(seq 0 $((hosts - 1))); do echo "10.77.0.$((host + 1)) host$host" >>"$OUT/hosts"; done

# A rank's recording is called after its rank, and its process: a rank that is started anew may have the same attempt.
cat >"$OUT/rank.sh" <<'SH'
push=()
# A machine keeps its spool: what a killed rank had not sent, the next one on that host brings.
[ -z "$DATABASE" ] || push=(--push "$DATABASE" --push-every 1s --push-spool "$OUT/spool-$(hostname)")
exec "$PLATEAU" run -q "${push[@]}" -o "$OUT/rank$RANK-$$.plateau" -- "$PYTHON" "$TRAIN"
SH
export DATABASE=$database no_proxy='*'
export OUT PLATEAU PYTHON=$python TRAIN=$source_dir/tests/ranks/train.py
export EPOCHS=$epochs LEAKS=1 GLOO_SOCKET_IFNAME=eth0 OMP_NUM_THREADS=1
# An agent that comes back waits in vain for what the others share since their first round (torch 2.13).
export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
[ -z "$killed" ] || export PAUSE=$((epochs / 2))
# What is pushed comes once a second: half of the epochs, a life, must last for the 15 samples of a leak.
[ -z "$database" ] || export STEP_S=0.2

start_host() {
  local host=$1
  # shellcheck disable=SC2054
  local torchrun=("$python" -m torch.distributed.run --nnodes="$hosts" --nproc-per-node=1 --rdzv-backend=c10d
    --rdzv-endpoint=10.77.0.1:29400 --rdzv-id=four-hosts --max-restarts=3 --monitor-interval=0.2
    --rdzv-conf=last_call_timeout=1,keep_alive_interval=2 --local-addr="10.77.0.$((host + 1))")
  local command=("${torchrun[@]}" --no-python bash "$OUT/rank.sh")
  [ "$where" = inside ] || command=("$PLATEAU" run -q -o "$OUT/host$host-$RANDOM.plateau" -- "${torchrun[@]}" "$TRAIN")
  # shellcheck disable=SC2016
  ip netns exec "plateau-$$-$host" unshare --uts --mount -- bash -c 'hostname "$0" && mount --bind "$OUT/hosts" /etc/hosts && exec "$@"' "host$host" "${command[@]}" \
    >>"$OUT/host$host.log" 2>&1 &
  agents[host]=$!
}

begin=$SECONDS
for host in $(seq 0 $((hosts - 1))); do start_host "$host"; done
if [ -n "$killed" ]; then
  for _ in $(seq 1200); do
    [ "$(cat "$OUT/progress" 2>/dev/null || echo 0)" -ge $((PAUSE - 1)) ] && [ -f "$OUT/checkpoint.pt" ] && break
    sleep 0.1
  done
  sleep 1
  echo "killing host$killed after $((SECONDS - begin)) s, with $(cat "$OUT/progress") epochs done"
  kill_host "$killed"
  touch "$OUT/go"
  sleep 8  # A machine is not back before the others have missed it: three heartbeats of two seconds.
  start_host "$killed"
fi
for host in $(seq 0 $((hosts - 1))); do
  wait "${agents[host]}" || fail "host$host ended with $?"
done
echo "the job took $((SECONDS - begin)) s"

recordings=("$OUT"/*.plateau)
echo "${#recordings[@]} recordings"
code=0
"$PLATEAU" judge --json "${recordings[@]}" >"$OUT/verdict.json" 2>"$OUT/judge.err" || code=$?
"$PLATEAU" judge "${recordings[@]}" || true
[ "$code" = 1 ] || fail "judge ended with $code: $(cat "$OUT/judge.err")"
cat >"$OUT/check.py" <<'PY'
import json
import os
import sys

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
assert len(lines) == 1, f"{len(lines)} verdicts on one job"
verdict = json.loads(lines[0])
job = verdict["job"]
hosts = int(os.environ["HOSTS"])
assert verdict["verdict"] == "leak" and verdict["clock"] == "step", (verdict["verdict"], verdict["clock"])
assert job["id"] == "four-hosts" and job["world"] == hosts, job
assert [rank["rank"] for rank in job["ranks"]] == list(range(hosts)), job["ranks"]
assert [rank["rank"] for rank in job["ranks"] if rank["odd"]] == [1], job["ranks"]
assert all(rank["verdict"] in ("plateau", "warming") for rank in job["ranks"] if rank["rank"] != 1), job["ranks"]
assert job["reach"] == "one rank" and not job["missing"], job
assert sorted(node["name"] for node in job["nodes"]) == [f"host{i}" for i in range(hosts)], job["nodes"]
if os.environ["KILLED"]:
    assert all(rank["lives"] == 2 for rank in job["ranks"]), job["ranks"]
PY
HOSTS=$hosts KILLED=$killed python3 -B "$OUT/check.py" "$OUT/verdict.json"
if [ -n "$database" ]; then
  ip netns exec "plateau-$$-switch" curl -sf -o "$OUT/flushed" "$database/internal/force_flush"
  sleep 2  # It shows what it took in a little later.
  code=0
  ip netns exec "plateau-$$-switch" "$PLATEAU" fleet --url "$database" --job four-hosts --window 1h --json >"$OUT/fleet.json" || code=$?
  [ "$code" = 1 ] || fail "fleet --job ended with $code: $(head -c 600 "$OUT/fleet.json")"
  HOSTS=$hosts KILLED=$killed python3 -B "$OUT/check.py" "$OUT/fleet.json"
  echo "fleet --job says the same of what the database holds"
fi
"$PLATEAU" report --force -o "$OUT/job.html" "${recordings[@]}"
grep -q "job four-hosts" "$OUT/job.html" || fail "the page does not name the job"
echo "one verdict on $hosts hosts: rank 1 leaks, the others are level"
