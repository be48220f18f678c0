// SPDX-License-Identifier: Apache-2.0
#include "session/untraced.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/units.h"

namespace plateau {
namespace {

constexpr int64_t kWorthALookKb = 4096;
constexpr double kLookGapSeconds = 5;
constexpr size_t kLooksPerTick = 8;
constexpr size_t kMostKnown = 256;
constexpr size_t kMostSentences = 3;
constexpr std::string_view kTracer = "libplateau_tracer.so";

std::string_view reason(TracerState state, bool exact) {
  switch (state) {
    case TracerState::not_told:
      return "it was started without the job's environment (env -i, sudo, a service manager), so "
             "that its loader was not told of the tracer";
    case TracerState::without_loader:
      return "it is statically linked, or by another libc than glibc, and loads no tracer";
    case TracerState::refused:
      return "its loader did not take the tracer: it is setuid, of another architecture, or its "
             "user cannot read the tracer's file";
    case TracerState::loaded:
      return exact ? "the tracer is in it but cannot reach its directory: another root, file "
                     "system or sandbox"
                   : "the tracer is in it, but it allocated less than one sample, or it cannot "
                     "reach the tracer's directory (another root, file system or sandbox)";
    case TracerState::unknown:
      break;
  }
  return "it could not be looked at";
}

}  // namespace

TracerState tracer_state(std::string_view maps, std::string_view environment) {
  if (maps.empty()) return TracerState::unknown;
  if (maps.find(kTracer) != std::string_view::npos) return TracerState::loaded;
  if (maps.find("/ld-linux") == std::string_view::npos &&
      maps.find("/ld-2.") == std::string_view::npos &&
      maps.find("/libc.so.6") == std::string_view::npos) {
    return TracerState::without_loader;
  }
  const size_t told = environment.find("LD_PRELOAD=");
  if (told == std::string_view::npos) return TracerState::not_told;
  const std::string_view value = environment.substr(told, environment.find('\0', told) - told);
  return value.find(kTracer) == std::string_view::npos ? TracerState::not_told
                                                       : TracerState::refused;
}

void UntracedProcesses::look(const Snapshot& snapshot, double at_s) {
  size_t looks = 0;
  for (const ProcessSample& process : snapshot.processes) {
    if (process.anon_kb < kWorthALookKb || looks == kLooksPerTick) continue;
    auto at = known_.find(process.key);
    if (at == known_.end()) {
      if (known_.size() == kMostKnown) continue;
      at = known_.emplace(process.key, Known{.looked_s = at_s - kLookGapSeconds}).first;
    }
    Known& known = at->second;
    known.anon_kb = std::max(known.anon_kb, process.anon_kb);
    if (at_s - known.looked_s < kLookGapSeconds) continue;
    known.looked_s = at_s;
    known.name = process.name;
    const std::string proc = fmt::format("/proc/{}/", process.key.pid);
    const TracerState state =
        tracer_state(text_of_file(proc + "maps"), text_of_file(proc + "environ"));
    if (state != TracerState::unknown) known.state = state;
    ++looks;
  }
}

std::vector<std::string> UntracedProcesses::sentences(const std::set<int64_t>& with_track,
                                                      bool exact) const {
  std::vector<std::pair<ProcessKey, const Known*>> silent;
  for (const auto& [key, known] : known_) {
    // A track of a process that the tracer is not in is from before its exec.
    const bool traced = known.state == TracerState::loaded || known.state == TracerState::unknown;
    if (!traced || !with_track.contains(key.pid)) silent.emplace_back(key, &known);
  }
  std::stable_sort(silent.begin(), silent.end(), [](const auto& a, const auto& b) {
    return a.second->anon_kb > b.second->anon_kb;
  });
  std::vector<std::string> all;
  for (const auto& [key, known] : silent) {
    if (all.size() == kMostSentences) {
      all.push_back(fmt::format("{} more of the job's processes have no heap in the recording",
                                silent.size() - kMostSentences));
      break;
    }
    all.push_back(fmt::format("the heap of {} (pid {}, {}) is not in the recording: {}",
                              known->name, key.pid,
                              format_mb(static_cast<double>(known->anon_kb) * 1024 / kBytesPerMb),
                              reason(known->state, exact)));
  }
  return all;
}

}  // namespace plateau
