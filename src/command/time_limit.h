// SPDX-License-Identifier: Apache-2.0
// A moment or a length of time, as people write it.
#pragma once

#include <optional>
#include <string_view>

namespace plateau {

struct TimeLimit {
  enum class Kind {
    elapsed,  // Seconds since the run's first instant.
    clock,    // Time of day on the log's own clock, seconds since midnight.
    date,     // Seconds since 1970, for logs that carry a date.
  };
  Kind kind = Kind::elapsed;
  double seconds = 0;
};

// "90", "90s", "10m", "1h30m", "2d"; "13:18", "13:18:25"; "2025-11-08T13:18:25", with a space
// instead of the T and with Z or +02:00 behind it if wanted. Without a zone the log's clock counts.
std::optional<TimeLimit> parse_time_limit(std::string_view text);

}  // namespace plateau
