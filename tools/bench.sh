#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmarks: CPU time, best of several, with the machine named; one whole `plateau judge`
# on a 100 MB text log with its peak memory; and what `plateau run` costs a job, bare and watched in
# turns (about three minutes on a machine that does nothing else).
set -euo pipefail
cd "$(dirname "$0")/.."
echo "machine: $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2- | xargs), $(nproc) cores, $(uname -sr)"
echo "== verdict"
build/release/verdict_speed
echo "== import"
build/release/import_speed
echo "== probe"
build/release/probe_cost
build/release/probe_cost --idle --pause-us 0
echo "== census"
build/release/census_cost
echo "== plateau judge on a 100 MB text log"
log=$(mktemp --suffix=.log)
trap 'rm -f "$log"' EXIT
python3 - "$log" <<'PY'
import sys
with open(sys.argv[1], "w") as out:
    size = step = 0
    while size < 100_000_000:
        step += 1
        noise = "".join(f"[INFO] 2026-11-15 12:00:{i:02d} loss=0.{step % 1000:03d} lr=1e-4\n" for i in range(9))
        size += out.write(noise + f"Step {step}: 6529 tensors (CPU: 330, GPU: 6199), RAM: {5500 + min(step, 80) * 150 + step * 7919 % 13} MB\n")
PY
python3 - "$log" <<'PY'
import resource, subprocess, sys, time
begin = time.monotonic()
done = subprocess.run(["build/release/plateau", "judge", "--epoch-steps", "83", "-q", sys.argv[1]], capture_output=True, text=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.stdout.strip())
print(f"{time.monotonic() - begin:.2f} s wall, {usage.ru_utime + usage.ru_stime:.2f} s CPU, peak {usage.ru_maxrss / 1024:.0f} MiB")
PY
echo "== plateau serve: 1,000 recordings, 200 clients, calm and while files are read that were made to hold it up"
build/release/serve_load build/release/plateau
echo "== plateau run: what watching costs the job"
bench/run_overhead.sh build/release/plateau build/release
echo "== exceptions under the tracer: target at most 1.2 times the bare program"
python3 bench/heap/overhead.py build/release --only throws
