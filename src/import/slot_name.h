// SPDX-License-Identifier: Apache-2.0
// What the words beside a number say about it: how much it looks like memory in use, or like a
// clock, or like a label.
//
// words.h answers by bits, fast, for lines that name what everybody names. This table weighs, for
// readings that must choose among columns: "rss" speaks louder than "memory", "free" is memory that
// falls when it leaks, "limit", "virtual" and "swap" speak against. The weights order columns of
// one file; their sum is no probability. Worked: "heapUsed" 7 + 1.5, "heapTotal" 7 - 3, "CPU usage"
// 1.5 - 6, "Memory available" 8 - 1.2 and falls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "recording/run.h"

namespace plateau {

// "heap_words": what a runtime of 64 bits counts its heap in.
inline constexpr double kWordMb = 8 / 1e6;

struct SlotName {
  enum class Clock : uint8_t { none, step, epoch, time };

  double weight = 0;
  bool memory = false;  // A word for memory is among them.
  bool free = false;    // Falls as memory is used.
  bool peak = false;    // A running maximum: cannot fall.
  bool total = false;   // Capacity, not use.
  bool limit = false;
  bool cache = false;  // Buffers and caches: the kernel gives them back.
  bool swap = false;
  bool change = false;  // A difference, not a level.
  bool percent = false;
  bool used = false;
  bool cpu = false;
  bool is_virtual = false;
  double loudest = 0;  // Weight of the loudest word for memory.
  bool gpu = false;
  bool machine = false;       // Of the host, not of a process.
  Clock clock = Clock::none;  // By the word nearest to the number.
  bool label = false;         // "pid", "rank", "container": by the last word.
  double unit_mb = 0;         // Named among the words: "rss_mb", "Memory_Used(GB)".
  double time_scale = 1;      // Seconds per unit, where it is a time.
  std::optional<Metric> metric;
};

SlotName weigh_name(std::string_view name);

// Words in lower case with single blanks between; camel case and letters glued to digits are cut.
std::string plain_words(std::string_view name);

}  // namespace plateau
