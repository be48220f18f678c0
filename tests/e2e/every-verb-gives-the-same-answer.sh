#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# judge, report, serve and the page have one answer to each of a dozen runs: the same words, numbers,
# site and notes. What run and watch say at the end is what judge says of their recordings.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >same.py <<'PY'
import base64, gzip, json, re, sys, urllib.request

def last_line(name):
    return json.loads(open(name, encoding="utf-8").read().splitlines()[-1])

def page_of(name):
    data = re.search(r'<script[^>]*id="plateau-data"[^>]*>([^<]*)<', open(name, encoding="utf-8").read())
    return json.loads(gzip.decompress(base64.b64decode(data.group(1))))["runs"][-1]

def served(url):
    return json.load(urllib.request.urlopen(url))

def expect_same(what, judged, other):
    assert list(judged) == list(other), (what, set(judged) ^ set(other))
    differ = {key: (judged[key], other[key]) for key in judged if judged[key] != other[key]}
    assert not differ, (what, differ)

def expect_page(what, judged, run):
    expect_same(what, judged, run["verdict"])
    assert all(note in judged["warnings"] for note in run["notes"] if "shown" not in note), (what, run["notes"])
    assert (run["said"]["site"] or "").removeprefix("grows at ") == (judged["site"] or ""), what
    if run["replay"]:
        assert run["replay"][-1]["verdict"] == judged["verdict"], what

def main():
    if sys.argv[1] == "live":
        return expect_same(sys.argv[2], last_line(sys.argv[3]), last_line(sys.argv[4]))
    url, files = sys.argv[2], sys.argv[3:]
    listed = {run["name"]: run["id"] for run in served(url + "api/runs")["runs"]}
    assert len(listed) == len(files), listed
    seen = []
    for file in files:
        judged = last_line(file + ".judged")
        expect_page(file + " report", judged, page_of(file + ".html"))
        expect_same(file + " serve", judged, served(f"{url}api/verdict?run={listed[file]}"))
        expect_page(file + " page", judged, served(f"{url}api/page?run={listed[file]}")["runs"][-1])
        seen.append(judged)
    # A dozen runs that have all there is to differ in.
    assert len(seen) >= 12 and len({judged["verdict"] for judged in seen}) >= 3
    for key in ("site", "warnings", "process", "onset_step", "run"):
        assert any(judged[key] for judged in seen), key

main()
PY

own=$SOURCE_DIR/corpus/own
logs=$SOURCE_DIR/tests/fixtures/logs
cp "$RUN1" "$RUN2" "$logs"/{nvidia_smi.csv,tree.csv,hf_console.log,note_two_runs.md,recording_v1.plateau} .
cp "$own"/{cow_epoch-1,leak_late-1,leak_one_worker-1,sawtooth_gc-1}.csv.gz .
{ leak_log 30 && echo "Step 310: -7 MB" && echo "Step 320: 33000 MB"; } >bad_line.log
"$HEAP_DEMO" heap_leak.plateau leak
"$HEAP_DEMO" heap_filled.plateau filled
files=(*.log *.md *.csv *.gz *.plateau)

for file in "${files[@]}"; do
  "$PLATEAU" judge --json "$file" >"$file.judged" || true
  "$PLATEAU" report -q "$file" -o "$file.html"
done
"$PLATEAU" serve "${files[@]}" --listen 127.0.0.1:0 >address 2>serve.err &
server=$!
# shellcheck disable=SC2064
trap "kill $server 2>/dev/null || true; wait; rm -rf '$SCRATCH'" EXIT
wait_until grep -q http address
python3 same.py stored "$(cat address)" "${files[@]}" || fail "not one answer"

cat >grow.py <<'PY'
import time
kept = []
def grow():
    kept.append(bytearray(b"x" * 500_000))
for step in range(1, 1000):
    grow()
    print(f"Step {step}", flush=True)
    time.sleep(0.02)
PY
cat >many.py <<'PY'
import subprocess
# Ten rounds of eight over some nine seconds: tracks are written every few, so that later ones displace earlier ones.
lives = "import time; kept = bytearray(1 << 20); time.sleep(0.9)"
for _ in range(10):
    jobs = [subprocess.Popen(["/usr/bin/python3", "-Sc", lives]) for _ in range(8)]
    for job in jobs:
        job.wait()
PY
"$PLATEAU" run --heap --json -o run.plateau -- timeout 4 /usr/bin/python3 grow.py >/dev/null 2>run.said || true
# More heaps than a recording keeps, which is a note.
"$PLATEAU" run --heap=exact --json -o noted.plateau -- /usr/bin/python3 many.py 2>noted.said || true
/usr/bin/python3 grow.py >grow.out &
job=$!
wait_until grep -q 'Step 5' grow.out
"$PLATEAU" watch "$job" --json --for 4s -o watch.plateau >watch.said || true
"$PLATEAU" watch "$job" --heap --json --for 6s -o watched_heap.plateau >watched_heap.said 2>watch.err || true
kill "$job"
for name in run noted watch watched_heap; do
  "$PLATEAU" judge --json "$name.plateau" >"$name.judged" || true
  python3 same.py live "$name" "$name.judged" "$name.said" || fail "$name: said and judged differ"
done
grep -q '"site":"' run.said || fail "run --heap names no site: $(tail -1 run.said)"
grep -q '"site":"' watched_heap.said || fail "watch --heap names no site: $(tail -1 watched_heap.said)"
expect_in noted.said "processes with a traced heap"
