// SPDX-License-Identifier: Apache-2.0
#include "inject/own_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/files.h"

namespace plateau {
namespace {

constexpr int kMostAncestors = 64;

struct Facts {
  int filters = -1;  // Or the mode, where the kernel does not count them.
  pid_t parent = 0;
  size_t depth = 0;  // Of PID namespaces.
};

std::string_view line_of(std::string_view status, std::string_view name) {
  const size_t at = status.find(name);
  if (at == std::string_view::npos) return "";
  return status.substr(at + name.size(), status.find('\n', at + 1) - at - name.size());
}

Facts facts_of(const std::string& who) {
  const std::string status = text_of_file(fmt::format("/proc/{}/status", who));
  std::string_view filters = line_of(status, "\nSeccomp_filters:");
  if (filters.empty()) filters = line_of(status, "\nSeccomp:");
  Facts facts;
  if (!filters.empty()) facts.filters = std::atoi(std::string(filters).c_str());
  facts.parent = std::atoi(std::string(line_of(status, "\nPPid:")).c_str());
  const std::string_view ids = line_of(status, "\nNSpid:");
  facts.depth = static_cast<size_t>(std::count(ids.begin(), ids.end(), '\t'));
  return facts;
}

}  // namespace

bool has_filter_of_its_own(pid_t pid) {
  const Facts target = facts_of(std::to_string(pid));
  if (target.filters <= 0 || target.filters <= facts_of("self").filters) return false;
  pid_t at = target.parent;
  for (int i = 0; i < kMostAncestors && at > 0; ++i) {
    const Facts ancestor = facts_of(std::to_string(at));
    if (ancestor.depth != target.depth) return false;
    if (ancestor.filters >= 0 && ancestor.filters < target.filters) return true;
    at = ancestor.parent;
  }
  return false;
}

}  // namespace plateau
