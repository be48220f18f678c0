#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# watch --all finds every Python job that maps a framework, and no other, tells what came of each, and needs no
# more privileges than the systemd unit and the manifests in integrations/ give it; those are what they should be.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"
export no_proxy='*'
jobs=
# shellcheck disable=SC2016
trap 'kill $jobs 2>/dev/null || true; wait; rm -rf "$SCRATCH"' EXIT

# A library of that name is all that is asked for.
head -c 4096 /dev/zero >libtorch_cpu.so
cat >train_a.py <<'PY'
import mmap, sys, time
library = open("libtorch_cpu.so", "rb")
mapped = mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ)
held = bytearray(b"x" * 40_000_000)
for step in range(int(sys.argv[1])):
    held += bytearray(b"x" * 1_000_000)
    print("Step %d: loss 1" % step, flush=True)
    time.sleep(0.1)
PY
cp train_a.py train_b.py
python3 train_a.py 400 >a.out &
a=$!
python3 train_b.py 45 >b.out &
b=$!
python3 -c 'import time; held = b"x" * 60_000_000; time.sleep(60)' &
jobs="$a $b $!"
sleep 1
"$PLATEAU" watch --all --textfile all.prom --push-every 0.5s --push-labels team=x >out 2>err &
watcher=$!
jobs="$jobs $watcher"
wait_until grep -q "found $b" out
expect_in out "found $a"
[ "$(grep -c ^found out)" -eq 2 ] || fail "not two jobs: $(cat out)"
both() { grep -q "plateau_owned_memory_bytes{run=\"train_a-.*-$a\",team=\"x\"" all.prom && grep -q "run=\"train_b-.*-$b\"" all.prom; }
wait_until both
ended() { grep -q "plateau_run_live{run=\"train_b-[^}]*} 0" all.prom; }
wait_until ended
grep -q "train_b-.*-$b" out || fail "no verdict of the one that ended: $(cat out)"
expect_in all.prom 'plateau_process_memory_bytes{run="train_a-'
expect_in all.prom 'plateau_last_step{run="train_a-'
! grep -q 'pid=' all.prom || fail "a series for each process"
kill "$watcher"
code=0
wait "$watcher" || code=$?
expect_code 0
expect_empty err
grep -q "train_a-.*-$a" out || fail "no verdict of the one that went on: $(cat out)"
gone "$a" && fail "a job was harmed"

# What cannot go along is one line.
run "$PLATEAU" watch --all 1
expect_code 2
run "$PLATEAU" watch --all --heap
expect_code 2
expect_in err '--all and --heap exclude each other'

# With the privileges of the unit and of the DaemonSet, another user's job is read; with those of the sidecar, one's own.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  chmod 755 "$SCRATCH"
  setpriv --reuid 65534 --regid 65534 --clear-groups python3 train_a.py 200 >other.out &
  other=$!
  jobs="$jobs $other"
  sleep 1
  run setpriv --bounding-set=-all,+sys_ptrace,+dac_read_search --inh-caps=-all --no-new-privs \
    "$PLATEAU" watch --all --for 2s --textfile "$SCRATCH/caps.prom" --push-every 0.5s
  expect_code 0
  expect_in out "found $other"
  expect_empty err
  grep -q "plateau_memory_bytes{run=\"train_a-[^\"]*-$other\"[^}]*component=\"owned\"} [0-9]" caps.prom || fail "$(cat caps.prom)"
  mkdir -m 777 theirs
  run setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --no-new-privs \
    "$PLATEAU" watch --all --for 2s --textfile "$SCRATCH/theirs/own.prom" --push-every 0.5s
  expect_code 0
  expect_in out "found $other"
  [ "$(grep -c ^found out)" -eq 1 ] || fail "more than one's own: $(cat out)"
fi

# The files in integrations/ say what plateau understands. Nothing is left to be found: nobody is there to take it.
# shellcheck disable=SC2086
kill $jobs 2>/dev/null || true
jobs=
python3 -c 'import yaml' 2>/dev/null || skip "no PyYAML here"
python3 -B "$SOURCE_DIR/tests/fleet/check_manifests.py" "$SOURCE_DIR"/integrations/kubernetes/*.yml >arguments || fail "a manifest is wrong"
[ "$(grep -c '^watch$' arguments)" -eq 2 ] || fail "two manifests run plateau: $(cat arguments)"
try() {
  run "$PLATEAU" "$@" --push-spool "$SCRATCH/spool" --for 0.1s
  expect_code 0
}
words=()
while IFS= read -r word; do
  case $word in
    '') try "${words[@]}"; words=() ;;
    /*/plateau*) unset 'words[-1]' ;;  # A place that is theirs: --push-spool DIR.
    http:*) words+=(http://127.0.0.1:9) ;;
    *) words+=("$word") ;;
  esac
done <arguments
unit=$SOURCE_DIR/integrations/systemd/plateau-watch.service
# shellcheck disable=SC2016
read -r -a words < <(sed -n 's|^ExecStart=/usr/bin/plateau ||p' "$unit" | sed 's|--push-spool [^ ]*||; s|${PLATEAU_PUSH_URL}|http://127.0.0.1:9|')
try "${words[@]}"
if command -v systemd-analyze >/dev/null; then
  sed "s|/usr/bin/plateau|$PLATEAU|" "$unit" >plateau-watch.service
  run systemd-analyze verify --man=no "$SCRATCH/plateau-watch.service"
  expect_code 0
  expect_empty err
fi
