// SPDX-License-Identifier: Apache-2.0
#include "base/pid.h"

#include <cstdint>

#include "base/text.h"

namespace plateau {

std::optional<pid_t> parse_pid(std::string_view digits) {
  constexpr uint64_t kMostPids = uint64_t{1} << 22;  // The kernel's own limit.
  const std::optional<uint64_t> number = parse_digits(digits, 10);
  if (!number || *number < 1 || *number > kMostPids) return std::nullopt;
  return static_cast<pid_t>(*number);
}

}  // namespace plateau
