// SPDX-License-Identifier: Apache-2.0
// The live screen with an invented job that grows, ten pictures a second: for tests/e2e and for
// eyes. Prints what ended it. The first argument "pipe" prints lines, "json" JSON, without a
// screen.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cli/terminal.h"
#include "command/screen.h"
#include "report/live.h"
#include "verdict/verdict.h"

namespace {

using plateau::LiveProcess;
using plateau::LiveState;
using plateau::Role;

constexpr int kTick_ms = 100;

LiveProcess process(int64_t pid, int64_t parent, size_t depth, std::string_view name, Role role) {
  LiveProcess made;
  made.pid = pid;
  made.parent = parent;
  made.depth = depth;
  made.name = name;
  made.role = role;
  made.role_reason = "made up for this demo";
  return made;
}

// A cache that fills over the first 83 steps: undecided for long, then level.
double owned_at(double step) {
  return 3800 + 168 * std::min(step, 83.0) + 20 * std::sin(step);
}

plateau::Run run_until(int64_t step) {
  plateau::Run run;
  run.context.epoch_steps = plateau::Fact{83, "demo"};
  run.context.total_steps = plateau::Fact{250, "demo"};
  run.context.limit_mb = plateau::Fact{20000, "demo"};
  run.processes.push_back({.id = 4242, .parent = -1, .id_is_pid = true, .name = "python train.py"});
  run.series.push_back(
      {.process = 0, .metric = plateau::Metric::pss_anon, .label = "demo", .mb = {}});
  for (int64_t at = 1; at <= step; ++at) {
    run.instants.push_back({.step = at, .time_s = static_cast<double>(at) * 2});
    run.series[0].mb.push_back(owned_at(static_cast<double>(at)));
    if (at % 40 == 0) run.events.push_back({run.instants.size() - 1, plateau::EventKind::eval, ""});
  }
  return run;
}

LiveState state_at(int64_t tick) {
  const int64_t step = std::min<int64_t>(4 + tick, 250);
  const double owned = owned_at(static_cast<double>(step));
  LiveState state;
  state.title = "python train.py --epochs 3";
  state.root_pid = 4100;
  state.elapsed_s = static_cast<double>(step) * 2;
  state.step = step;
  state.total_steps = 250;
  state.steps_per_s = 0.5;
  state.epoch = static_cast<double>(step) / 83;
  state.processes = {process(4100, -1, 0, "torchrun train.py", Role::wrapper),
                     process(4242, 4100, 1, "python train.py", Role::main),
                     process(4243, 4242, 2, "python train.py", Role::data_worker),
                     process(4244, 4242, 2, "訓練\x1b[2J worker", Role::data_worker)};
  for (LiveProcess& each : state.processes) {
    const bool grows = each.role == Role::main;
    each.owned_mb = grows ? owned - 900 : 300;
    each.growth_mb = grows ? owned - owned_at(0) : 0;
    each.rss_mb = each.owned_mb + 210;
    each.file_mb = 190;
    each.shmem_mb = 20;
    each.cpu_percent = grows ? 99 : 7;
    each.threads = 4;
  }
  state.totals = {
      .owned_mb = owned, .shared_mb = 640, .file_mb = 420, .swap_mb = 0, .gpu_mb = 9800};
  state.verdict = plateau::judge(run_until(step));
  state.limit = {.mb = 20000, .source = "--limit", .used_mb = owned, .seconds_to_limit = {}};
  if (step < 83) state.limit.seconds_to_limit = (20000 - owned) / 84;
  state.system_available_mb = 41200;
  state.system_total_mb = 67400;
  state.gpus = {{.index = 0, .name = "demo", .used_mb = 9800, .total_mb = 24000}};
  state.cost = {.watcher_cpu_percent = 0.3, .walk_percent = 0.1, .interval_s = 1};
  state.events = {{.time_s = 80, .text = "evaluation begins"}};
  return state;
}

void write_lines(bool json, const plateau::View& view) {
  for (int64_t tick = 0; tick < 3; ++tick) {
    const LiveState state = state_at(tick * 60);
    std::puts((json ? live_json(state) : live_line(state, view)).c_str());
  }
}

int show(plateau::Terminal& terminal, plateau::View view, std::string& ended_by) {
  plateau::LiveControls controls;
  LiveState state;
  for (int64_t tick = 0; !controls.quit; ++tick) {
    if (!controls.paused) state = state_at(tick);
    const plateau::TerminalSize size = terminal.size();
    terminal.show(render_live(state, controls, size.columns, size.rows, view));
    std::array<pollfd, 2> wait = {
        {{terminal.input_fd(), POLLIN, 0}, {terminal.news_fd(), POLLIN, 0}}};
    poll(wait.data(), wait.size(), terminal.wait_ms(kTick_ms));
    const plateau::TerminalNews news = terminal.take_news();
    for (const plateau::Key& key : news.keys) {
      // The keys by which a test makes the program end badly.
      if (key.character == U'T') throw 1;  // NOLINT: uncaught on purpose.
      if (key.character == U'E') std::exit(5);
      controls = handle_key(controls, key, state);
    }
    if (news.quit_signal != 0) {
      ended_by = fmt::format("signal {}", news.quit_signal);
      return 128 + news.quit_signal;
    }
    if (news.closed) return 3;
  }
  ended_by = "q";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const plateau::View view = choose_view(plateau::look_around(), "auto", {});
  const std::string_view form = argc > 1 ? argv[1] : "";
  if (!form.empty()) {
    write_lines(form == "json", view);
    return 0;
  }
  std::string ended_by;
  int code = 0;
  {
    auto terminal = plateau::Terminal::open(STDIN_FILENO, STDOUT_FILENO);
    if (!terminal) {
      fmt::print(stderr, "live_demo: {}\n", terminal.error().message);
      return 2;
    }
    code = show(*terminal.value(), view, ended_by);
  }
  fmt::print("ended by {}\n", ended_by);
  return code;
}
