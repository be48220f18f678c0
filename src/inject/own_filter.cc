// SPDX-License-Identifier: Apache-2.0
#include "inject/own_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/proc_fields.h"

namespace plateau {
namespace {

constexpr int kMostAncestors = 64;

struct Facts {
  int filters = -1;  // See seccomp_filters().
  pid_t parent = 0;
  size_t depth = 0;  // Of PID namespaces, below the outermost.
};

Facts facts_of(const std::string& who) {
  const std::string status = text_of_file(fmt::format("/proc/{}/status", who));
  Facts facts;
  facts.filters = seccomp_filters(status);
  facts.parent = static_cast<pid_t>(number_field(status, "PPid"));
  const std::string_view ids = field_of(status, "NSpid");
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
