// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_attached.h"

#include <fmt/format.h>

#include <fstream>
#include <string>

#include "base/units.h"
#include "session/heap_attach.h"

namespace plateau {
namespace {

std::string name_of(pid_t pid) {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", pid)), name);
  return name;
}

}  // namespace

Result<Run> trace_process(pid_t pid, double seconds, Output& out) {
  Run run;
  run.source = fmt::format("process {}", pid);
  run.processes.push_back({.id = pid, .id_is_pid = true, .name = name_of(pid)});
  const auto say = [&out](const std::string& sentence) { out.complain("profile", sentence); };
  say(fmt::format("loading the heap tracer into process {} for {}", pid, format_seconds(seconds)));
  Result<std::vector<HeapTrack>> tracks = trace_for(pid, seconds, {}, say);
  if (!tracks) return tracks.error();
  run.heaps = std::move(tracks.value());
  if (run.heaps.empty()) {
    return Error{Error::Kind::no_samples,
                 fmt::format("process {} allocated less than one sample in that time; try a longer "
                             "--for, or start it under 'plateau run --heap=exact'",
                             pid)};
  }
  return run;
}

}  // namespace plateau
