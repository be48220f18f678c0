// SPDX-License-Identifier: Apache-2.0
#include "base/pid.h"

#include <cstdint>
#include <limits>

#include "base/text.h"

namespace plateau {

std::optional<pid_t> parse_pid(std::string_view digits) {
  constexpr uint64_t kMost = std::numeric_limits<pid_t>::max();
  const std::optional<uint64_t> number = parse_digits(digits, 10);
  if (!number || *number < 1 || *number > kMost) return std::nullopt;
  return static_cast<pid_t>(*number);
}

}  // namespace plateau
