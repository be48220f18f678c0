// SPDX-License-Identifier: Apache-2.0
#include "session/heap_attach.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <string_view>

#include "inject/inject.h"
#include "session/machine.h"

namespace plateau {
namespace {

constexpr double kRowSeconds = 0.2;

// What a job would be told by its environment tells where tracer and segments are.
std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
      const std::string value = entry.substr(name.size() + 1);
      return value.substr(0, value.find(':'));
    }
  }
  return "";
}

std::optional<Error> attach_with(pid_t pid, const KeeperOptions& options,
                                 const std::vector<std::string>& environment,
                                 const SaySentence& say) {
  const AttachRequest request{.tracer = value_of(environment, "LD_PRELOAD"),
                              .directory = value_of(environment, "PLATEAU_HEAP"),
                              .exact = options.mode == HeapMode::exact,
                              .interval_bytes = options.interval_bytes};
  const Result<Intrusion> cost = attach_tracer(pid, request);
  if (!cost.ok()) return cost.error();
  say(
      fmt::format("the heap tracer was loaded into process {}; one thread, stopped {}, stood still "
                  "for {:.3g} ms",
                  pid, cost.value().how, cost.value().stopped_s * 1e3));
  return std::nullopt;
}

bool lives(pid_t pid) {
  return ::access(fmt::format("/proc/{}/maps", pid).c_str(), F_OK) == 0;
}

// Ctrl-C and TERM end the tracing, not us: the tracer is to be taken out of the process again.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    sigprocmask(SIG_BLOCK, &signals_, &before_);
  }
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // True if one of them came within the time.
  [[nodiscard]] bool wait(double seconds) const {
    const timespec pause = {.tv_sec = 0, .tv_nsec = static_cast<long>(seconds * 1e9)};
    return sigtimedwait(&signals_, nullptr, &pause) > 0;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace

std::optional<Error> attach_heap(pid_t pid, const KeeperOptions& options, const HeapWatch& watch,
                                 const SaySentence& say) {
  return attach_with(pid, options, watch.environment(), say);
}

void detach_heap(pid_t pid, const SaySentence& say) {
  if (!lives(pid)) return;
  const Result<Intrusion> cost = detach_tracer(pid);
  if (!cost.ok()) {
    if (lives(pid)) say("the heap tracer was not taken out: " + cost.error().message);
    return;
  }
  if (!cost.value().left_behind.empty()) say(cost.value().left_behind);
}

Result<std::vector<HeapTrack>> trace_for(pid_t pid, double seconds, const KeeperOptions& options,
                                         const SaySentence& say) {
  Result<Keeper> keeper = Keeper::start(options);
  if (!keeper.ok()) return keeper.error();
  if (auto error = attach_with(pid, options, keeper.value().environment(""), say)) return *error;
  const double begun_s = monotonic_now_s();
  double at_s = 0;
  const HeldSignals held;
  while (at_s < seconds && lives(pid)) {
    keeper.value().row(at_s, -1);
    const bool asked = held.wait(std::min(kRowSeconds, seconds - at_s));
    at_s = monotonic_now_s() - begun_s;
    if (asked) break;
  }
  keeper.value().row(at_s, -1);
  detach_heap(pid, say);
  return keeper.value().tracks();
}

}  // namespace plateau
