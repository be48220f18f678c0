#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh programs: six of the programs that bench/prove_score.py knows must be proved right.
# run.sh edges: jobs that save, end early, refuse to end, or train on two ranks.
# run.sh contrasts: every factor of --contrast; sixteen runs of a job, so by hand and not in CI:
#   PLATEAU=build/release/plateau SOURCE_DIR=$PWD tests/prove/run.sh contrasts
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
  expect_in out '"path":"model.kept"'
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

a_factor_that_leaves_nothing_out_proves_nothing() {
  run "$PLATEAU" prove -q --steps 60 --contrast no-eval -- "$stack" "$job" --fault eval-keeps
  expect_code 2
  expect_in err "no call that --contrast no-eval leaves out"
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

# contrast FACTOR LEAST MOST ARGUMENTS...: the share of "it matters" lies between. LEFT=SHARE: at least so much of the
# growth is left with the factor.
contrast() {
  local factor=$1 least=$2 most=$3
  shift 3
  run "$PLATEAU" prove -q --json --contrast "$factor" -- "$stack" "$job" "$@"
  [ "$code" != 2 ] || fail "--contrast $factor: $(cat err)"
  python3 - "$factor" "$least" "$most" "${LEFT:-0}" <<'EOF' || fail "--contrast $factor $*: $(cat out)"
import json, sys
told = json.loads(open("out").read())
assert {block["kind"] for block in told["blocks"]} == {"A", "B"}, told["blocks"]
share = told["contrast"]["matters"]
print("%-28s matters %.3f: %.3f MB a step without, %.3f with; %d steps in %.0f s" % (
    told["contrast"]["factor"], share, told["contrast"]["mb_per_step_without"],
    told["contrast"]["mb_per_step_with"], told["steps"], told["seconds"]))
assert float(sys.argv[2]) <= share <= float(sys.argv[3]), share
left = told["contrast"]["mb_per_step_with"]
assert left >= float(sys.argv[4]) * told["contrast"]["mb_per_step_without"], left
EOF
}

# All of them, whatever comes of one.
contrasts() {
  local wrong=0
  (contrast gc 0.9 1 --fault no-gc) || wrong=$((wrong + 1))
  # The allocator keeps a tenth of a megabyte of scraps a step, so trimming may matter in part; the losses stay.
  (LEFT=0.75 contrast trim 0 1 --fault losses) || wrong=$((wrong + 1))
  (contrast no-backward 0 0.1 --fault outputs) || wrong=$((wrong + 1))
  (contrast no-optimizer 0 0.1 --fault losses) || wrong=$((wrong + 1))
  (contrast no-eval 0.5 1 --fault eval-keeps --loop trainer) || wrong=$((wrong + 1))
  (contrast workers=0,2 0 0.1 --fault call) || wrong=$((wrong + 1))
  (contrast batch 0 0.1 --fault none) || wrong=$((wrong + 1))
  (contrast malloc=glibc 0 0.1 --fault losses) || wrong=$((wrong + 1))
  (contrast malloc=jemalloc 0 0.5 --fault losses) || wrong=$((wrong + 1))
  (contrast malloc=MALLOC_ARENA_MAX=2 0 0.1 --fault losses) || wrong=$((wrong + 1))
  [ "$wrong" = 0 ] || fail "$wrong contrasts are wrong"
}

case ${1:-programs} in
  contrasts) contrasts ;;
  programs) programs ;;
  edges)
    saves_are_left_out_and_an_ignored_signal_helps_nobody
    a_job_that_ends_early_says_how_far_it_came
    a_factor_that_leaves_nothing_out_proves_nothing
    every_rank_is_judged
    ;;
esac
