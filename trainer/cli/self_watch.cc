// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/self_watch.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "base/units.h"

namespace plateau::train {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename T>
void keep_even(std::vector<T>& values) {
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); i += 2) values[kept++] = values[i];
  values.resize(kept);
}

}  // namespace

void SelfWatch::began(int64_t total_steps, double examples, double batch, double epoch_steps) {
  start_s_ = now_s();
  run_.source = "this run";
  run_.format = "plateau-train";
  run_.processes = {
      {.id = getpid(), .id_is_pid = true, .name = "plateau-train", .role = Role::main}};
  run_.series = {{.process = 0, .metric = Metric::rss, .label = "resident", .mb = {}}};
  run_.context.total_steps = Fact{static_cast<double>(total_steps), "the plan"};
  run_.context.examples = Fact{examples, "the dataset"};
  run_.context.batch = Fact{batch, "the options"};
  run_.context.epoch_steps = Fact{epoch_steps, "the dataset"};
}

void SelfWatch::stepped(int64_t step, double epoch, int64_t resident_bytes) {
  last_resident_bytes_ = resident_bytes;
  if (step % stride_ != 0) return;
  run_.instants.push_back({.step = step, .time_s = now_s() - start_s_, .epoch = epoch});
  run_.series[0].mb.push_back(static_cast<double>(resident_bytes) / kBytesPerMb);
  if (run_.instants.size() >= kMaxSamples) thin();
}

void SelfWatch::marked(EventKind kind) {
  if (!run_.instants.empty() && run_.events.size() < kMaxSamples) {
    run_.events.push_back({.instant = run_.instants.size() - 1, .kind = kind, .text = {}});
  }
}

void SelfWatch::thin() {
  stride_ *= 2;
  keep_even(run_.instants);
  keep_even(run_.series[0].mb);
  for (Event& event : run_.events)
    event.instant = std::min(event.instant / 2, run_.instants.size() - 1);
}

Verdict SelfWatch::verdict() const {
  return judge(run_);
}

OwnMemory own_memory() {
  OwnMemory out;
  std::ifstream status("/proc/self/status");
  std::string key;
  int64_t kb = 0;
  for (std::string line; std::getline(status, line);) {
    const bool resident = line.starts_with("VmRSS:");
    if (!resident && !line.starts_with("VmHWM:")) continue;
    kb = std::strtoll(line.c_str() + sizeof("VmRSS:") - 1, nullptr, 10);
    (resident ? out.resident_bytes : out.peak_bytes) = kb * 1024;
  }
  return out;
}

}  // namespace plateau::train
