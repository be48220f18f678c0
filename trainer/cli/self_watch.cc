// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/self_watch.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "base/proc_fields.h"
#include "base/thinning.h"
#include "base/units.h"

namespace plateau::train {

void SelfWatch::began(int64_t total_steps, double examples, double batch, double epoch_steps) {
  start_s_ = monotonic_now_s();
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
  run_.instants.push_back({.step = step, .time_s = monotonic_now_s() - start_s_, .epoch = epoch});
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
  keep_every_second(run_.instants);
  keep_every_second(run_.series[0].mb);
  for (Event& event : run_.events)
    event.instant = std::min(event.instant / 2, run_.instants.size() - 1);
}

Verdict SelfWatch::verdict() const {
  return judge(run_);
}

OwnMemory own_memory() {
  const std::string status = text_of_file("/proc/self/status");
  const auto bytes = [&](std::string_view key) {
    return static_cast<int64_t>(number_field(status, key)) * 1024;
  };
  return {.resident_bytes = bytes("VmRSS"), .peak_bytes = bytes("VmHWM")};
}

}  // namespace plateau::train
