#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Recordings with one job's id, or logs that --job puts together, are answered once, and shown on one page; others as ever. What a
# launcher says in the environment stands in the recording, and nonsense does not.
. "$(dirname "$0")/lib.sh"
# What whoever runs this was launched by says nothing about these jobs.
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT SLURM_JOB_ID SLURM_PROCID SLURM_STEP_ID PMI_RANK OMPI_COMM_WORLD_RANK

flat_log 200 >a.log
leak_log 200 >b.log
flat_log 200 >c.log

run "$PLATEAU" judge --no-plot --job exp7 --epoch-steps 50 a.log b.log c.log
expect_code 1
expect_in out "rank 1 leaks, the other 2 are level"
run "$PLATEAU" judge --json --job exp7 --epoch-steps 50 a.log b.log c.log
expect_one_line out
python3 - <<'PY'
import json
job = json.load(open("out"))["job"]
assert job["id"] == "exp7" and job["reach"] == "one rank" and [r["odd"] for r in job["ranks"]] == [False, True, False], job
PY
run "$PLATEAU" judge -q a.log b.log --epoch-steps 50
[ "$(wc -l <out)" -eq 2 ] || fail "two logs of no job are two answers"
run "$PLATEAU" judge --job exp7 --rank 1 a.log b.log
expect_code 2
expect_one_line err

# A launcher in front of plateau; and one of several launchers' worth of nonsense.
RANK=1 WORLD_SIZE=4 TORCHELASTIC_RUN_ID=exp8 TORCHELASTIC_RESTART_COUNT=2 run "$PLATEAU" run -q -o r1.plateau -- sleep 0.3
expect_code 0
RANK=-1 WORLD_SIZE=1e9 PLATEAU_JOB=$'exp8\e[31m\n' run "$PLATEAU" run -q -o r2.plateau -- sleep 0.3
run "$PLATEAU" dump r1.plateau
expect_in out "rank 1 (RANK (torchrun))"
expect_in out "world 4 (WORLD_SIZE (torchrun))"
expect_in out "attempt 2 (TORCHELASTIC_RESTART_COUNT (torchrun))"
expect_in out "job exp8 (TORCHELASTIC_RUN_ID (torchrun))"
run "$PLATEAU" dump r2.plateau
expect_in out "job exp8 (PLATEAU_JOB)"
expect_not_in out "fact rank"
run "$PLATEAU" judge --json r1.plateau
python3 -c 'import json; got = json.load(open("out"))["launched"]; assert got == {"job": "exp8", "rank": 1, "world": 4, "node": None, "attempt": 2}, got'
# Without -o every rank has a name of its own.
RANK=3 WORLD_SIZE=4 run "$PLATEAU" run -q -- sleep 0.2
ls sleep-*-rank3.plateau >/dev/null || fail "the recording is not called after its rank: $(ls)"

# A launcher behind plateau: one tree, two ranks in it.
run "$PLATEAU" run -q -o tree.plateau -- sh -c 'RANK=0 WORLD_SIZE=2 sleep 0.6 & RANK=1 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=1 sleep 0.6 & wait'
run "$PLATEAU" dump --records tree.plateau
expect_in out 'name "sleep"  rank 0'
expect_in out 'name "sleep"  rank 1'
run "$PLATEAU" dump tree.plateau
expect_in out "job h:1"

# One page for a job; a comparison, with a remark, where not all are of it.
run "$PLATEAU" report --job exp7 a.log b.log c.log -o job.html
expect_code 0
expect_in job.html "job exp7 (3 ranks in 3 recordings)"
run "$PLATEAU" report r1.plateau a.log -o compared.html
expect_code 0
expect_in err "not all are of one job"
expect_in compared.html "2 runs compared"
