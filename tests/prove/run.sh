#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh programs: six of the programs that bench/prove_score.py knows must be proved right.
# run.sh edges: jobs that save, end early, refuse to end, or train on two ranks.
# 77 (skipped) where the users' packages are not installed.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/../e2e/lib.sh"
stack=$("$here/../../tools/stack.sh" 2>/dev/null) || skip "tools/setup.sh stack installs the packages"
job=$here/job.py

programs() {
  python3 -B "$here/../../bench/prove_score.py" "$PLATEAU" "$stack" --only small
}

saves_are_left_out_and_an_ignored_signal_helps_nobody() {
  cat >stubborn.py <<EOF
import runpy, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.argv[0] = "$job"
runpy.run_path("$job", run_name="__main__")
EOF
  run "$PLATEAU" prove -q --json -- "$stack" stubborn.py --fault losses --save kept.pt
  expect_code 1
  expect_in out '"proved":"per-step"'
  expect_in out '"ended_by_plateau":true'
  expect_not_in out '"saves_skipped":0'
  [ ! -e kept.pt ] || fail "a checkpoint was written"
}

a_job_that_ends_early_says_how_far_it_came() {
  run "$PLATEAU" prove -q -- "$stack" "$job" --examples 40 --epochs 1
  case $code in
    2) expect_in err "before the first block" ;;
    3) expect_in out "UNDECIDED" ;;
    *) fail "exit code $code: $(cat out err)" ;;
  esac
}

every_rank_is_judged() {
  cat >ranks.py <<EOF
import os, sys
sys.path.insert(0, "$here")
import job, torch
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo")
options = job.parse(["--fault", "outputs" if os.environ["RANK"] == "1" else "none"])
model = job.Model(options)
optimizer = torch.optim.AdamW(model.parameters())
ranks = torch.nn.parallel.DistributedDataParallel(model)
examples = job.Examples(options)
loader = torch.utils.data.DataLoader(examples, batch_size=8,
                                     sampler=torch.utils.data.distributed.DistributedSampler(examples))
while True:
    for batch in loader:
        ranks(**batch)["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
EOF
  run "$PLATEAU" prove -q --json -- "$stack" -m torch.distributed.run --standalone --nproc-per-node 2 ranks.py
  expect_code 1
  expect_in out '"proved":"per-step"'
  expect_in out '"processes":2'
}

case ${1:-programs} in
  programs) programs ;;
  edges)
    saves_are_left_out_and_an_ignored_signal_helps_nobody
    a_job_that_ends_early_says_how_far_it_came
    every_rank_is_judged
    ;;
esac
