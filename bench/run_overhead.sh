#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `plateau run` costs a job, at its defaults: the same program bare and watched, in turns.
#
#   bench/run_overhead.sh PLATEAU BENCH_DIR [ROUNDS]
#
# BENCH_DIR holds busy_job (built from bench/busy_job.cc). Printed: the job's own CPU time and its
# wall-clock time, watched over bare, as the ratio of medians with a 90 % bootstrap interval; and
# what the watcher itself took of one core. Then the same watcher over 21 processes of 8 GB in all
# (less where the machine has less), for its share of one core.
set -euo pipefail
plateau=${1:?path of plateau}
directory=${2:?directory with busy_job}
rounds=${3:-15}
exec python3 "$(dirname "$0")/run_overhead.py" "$plateau" "$directory/busy_job" "$rounds"
