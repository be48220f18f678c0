// SPDX-License-Identifier: Apache-2.0
#include "cli/prove_holders.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/printable.h"
#include "census/census.h"

namespace plateau {
namespace {

constexpr std::string_view kOurs = "plateau_auto";

bool is_ours(const Holder& holder) {
  return holder.module.find(kOurs) != std::string::npos ||
         holder.file.find(kOurs) != std::string::npos;
}

// Of its main thread, from which data workers are started.
std::vector<int64_t> children_of(int64_t pid) {
  std::ifstream listed(fmt::format("/proc/{0}/task/{0}/children", pid));
  std::vector<int64_t> children;
  for (int64_t child = 0; children.size() < ProveHolders::kMostChildren && listed >> child;) {
    children.push_back(child);
  }
  return children;
}

int64_t grown_in_all(const std::vector<Holder>& holders) {
  int64_t sum = 0;
  for (const Holder& holder : holders)
    sum += std::max<int64_t>(0, holder.grew() + holder.deepened());
  return sum;
}

}  // namespace

ProveHolders::ProveHolders() : heard_(memfd_create("plateau-heard", MFD_CLOEXEC)) {}

std::string ProveHolders::heard_path() const {
  return heard_ ? fmt::format("/proc/{}/fd/{}", getpid(), heard_.get()) : "";
}

void ProveHolders::heard(int64_t step) {
  const std::string text = fmt::format("{:020}", step);
  // Whoever waits for it gives up by itself.
  [[maybe_unused]] const ssize_t written = pwrite(heard_.get(), text.data(), text.size(), 0);
}

void ProveHolders::begin(int64_t pid, int64_t step) {
  if (begun()) return;
  growth_.from_step = step;
  Result<Census> census =
      take_census(static_cast<pid_t>(pid), {.max_stop_s = kMostStopS, .holders = true});
  if (!census || !census.value().holders.trouble.empty()) {
    trouble_ = census ? census.value().holders.trouble : census.error().message;
    return;
  }
  growth_.stopped_s += census.value().stopped_s;
  before_[pid] = std::move(census.value().holders.index);
  for (const int64_t child : children_of(pid)) {
    // One that has ended meanwhile, or is no Python, has nothing to show.
    Result<Census> one =
        take_census(static_cast<pid_t>(child), {.max_stop_s = kMostStopS, .holders = true});
    if (one && one.value().holders.trouble.empty()) {
      before_[child] = std::move(one.value().holders.index);
    }
  }
}

void ProveHolders::end(int64_t step) {
  if (ended_ || before_.empty()) return;
  ended_ = true;
  growth_.to_step = step;
  int64_t most = 0;
  for (const auto& [pid, index] : before_) {
    Result<Census> census = take_census(
        static_cast<pid_t>(pid), {.max_stop_s = kMostStopS, .holders = true, .before = &index});
    if (!census) continue;
    growth_.stopped_s += census.value().stopped_s;
    std::vector<Holder> holders = std::move(census.value().holders.holders);
    std::erase_if(holders, is_ours);
    for (Holder& holder : holders) {
      each_text(holder, [](std::string& text) { text = printable(text); });
    }
    const int64_t grown = grown_in_all(holders);
    if (grown <= most) continue;
    most = grown;
    growth_.pid = pid;
    growth_.holders = std::move(holders);
  }
}

}  // namespace plateau
