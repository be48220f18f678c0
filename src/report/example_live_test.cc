// SPDX-License-Identifier: Apache-2.0
#include "report/example_live.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/judged_examples_for_test.h"

namespace plateau {
namespace {

LiveProcess process(int64_t pid, int64_t parent, size_t depth, std::string name, Role role,
                    double owned_mb, double growth_mb) {
  LiveProcess made;
  made.pid = pid;
  made.parent = parent;
  made.depth = depth;
  made.name = std::move(name);
  made.role = role;
  made.owned_mb = owned_mb;
  made.growth_mb = growth_mb;
  made.rss_mb = owned_mb * 1.1 + 200;
  made.file_mb = 190;
  made.shmem_mb = 64;
  made.swap_mb = 0;
  made.gpu_mb = role == Role::main ? 9800 : 0;
  made.uss_mb = owned_mb * 0.97;
  made.pss_mb = owned_mb + 120;
  made.cpu_percent = role == Role::main ? 101.3 : 12.6;
  made.threads = role == Role::main ? 37 : 3;
  made.fds = role == Role::main ? 112 : 24;
  return made;
}

}  // namespace

LiveState live_example() {
  LiveState state;
  state.title = "python train.py --epochs 3 --batch 8";
  state.root_pid = 4100;
  state.clock_text = "14:03:22";
  state.elapsed_s = 754;
  state.step = 70;
  state.total_steps = 250;
  state.steps_per_s = 0.52;
  state.epoch = 0.84;
  state.processes = {
      process(4100, -1, 0, "torchrun train.py", Role::wrapper, 302, 2),
      process(4242, 4100, 1, "python train.py", Role::main, 1518, 18),
      process(4243, 4242, 2, "python train.py", Role::data_worker, 3480, 3180),
      process(4244, 4242, 2, "python train.py", Role::data_worker, 311, 11),
      process(4251, 4100, 1, "python -c compile_worker", Role::compile_worker, 96, 0)};
  state.processes[2].role_reason = "forked by pid 4242, same command line";
  state.processes[4].alive = false;
  state.totals = {.owned_mb = 5700, .shared_mb = 640, .file_mb = 420, .swap_mb = 0, .gpu_mb = 9800};
  state.verdict = undecided_example();
  state.verdict->title = "";
  state.verdict->marks = {{.step = 40, .kind = EventKind::eval},
                          {.step = 60, .kind = EventKind::checkpoint}};
  state.limit = {.mb = 20000, .source = "cgroup", .used_mb = 6340, .seconds_to_limit = 1560};
  state.system_available_mb = 41200;
  state.system_total_mb = 67400;
  state.cgroup = {.path = "/job-1", .usage_mb = 6800, .limit_mb = 20000, .oom_kills = 0};
  state.gpus = {{.index = 0, .name = "A10", .used_mb = 9800, .total_mb = 24000}};
  state.cost = {.watcher_cpu_percent = 0.34, .walk_percent = 0.08, .interval_s = 1};
  state.events = {{.time_s = 401, .text = "evaluation begins"},
                  {.time_s = 420, .text = "evaluation ends"},
                  {.time_s = 640, .text = "pid 4251 (compile worker) ended"}};
  state.recording_path = "train.plateau";
  return state;
}

LiveState crowded_example(int workers) {
  LiveState state = live_example();
  state.processes.resize(2);
  for (int i = 0; i < workers; ++i) {
    state.processes.push_back(process(5000 + i, 4242, 2, fmt::format("python train.py ({})", i),
                                      Role::data_worker, 300 + 10 * i, 10 * i));
  }
  return state;
}

namespace {

TEST(ExampleLive, EveryChildFollowsItsParent) {
  for (const LiveState& state : {live_example(), crowded_example(30)}) {
    for (size_t i = 1; i < state.processes.size(); ++i) {
      const LiveProcess& child = state.processes[i];
      bool found = false;
      for (size_t j = 0; j < i; ++j) {
        const LiveProcess& parent = state.processes[j];
        found = found || (parent.pid == child.parent && parent.depth + 1 == child.depth);
      }
      EXPECT_TRUE(found) << child.pid;
    }
  }
}

}  // namespace
}  // namespace plateau
