// SPDX-License-Identifier: Apache-2.0
// psrecord's plain log: a '#' header, then elapsed seconds, CPU %, resident and virtual memory in
// columns. Its "MB" are MiB. The csv form has named columns and the same order.
#include "base/text.h"
#include "import/readers.h"
#include "import/run_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace plateau {
namespace {

constexpr double kMib = 1.048576;

// Commas become spaces, so that both forms are words.
std::string as_words(std::string_view line) {
  std::string words(line.substr(0, 1000));
  std::replace(words.begin(), words.end(), ',', ' ');
  return words;
}

// In the csv form the place of the columns is in the header.
struct Places {
  size_t time = 0;
  size_t memory = 2;
};

Places places_of(std::string_view header) {
  Places places;
  const std::string words = as_words(header);
  std::string_view rest = words;
  for (size_t i = 0; i < 20; ++i) {
    const std::string_view word = next_word(rest);
    if (word.empty()) break;
    if (find_ignoring_case(word, "elapsed") == 0) places.time = i;
    if (find_ignoring_case(word, "mem_real") == 0) places.memory = i;
  }
  return places;
}

}  // namespace

Result<Runs> read_psrecord(LineReader& lines) {
  RunBuilder builder("psrecord");
  const size_t column = builder.memory_column(builder.process(0, false), Metric::rss, "Real (MB)");
  Places places;
  std::string_view line;
  while (lines.next(line)) {
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    if (text.front() == '#') continue;
    if (is_letter(text.front())) {
      places = places_of(text);
      continue;
    }
    const std::string words = as_words(text);
    std::string_view rest = words;
    double time = kMissing;
    double mib = kMissing;
    for (size_t i = 0; i <= std::max(places.time, places.memory); ++i) {
      const auto value = parse_double(next_word(rest));
      if (i == places.time && value) time = *value;
      if (i == places.memory && value) mib = *value;
    }
    if (!std::isfinite(time) || !std::isfinite(mib)) {
      builder.bad(lines.number(), text.substr(0, 80));
      continue;
    }
    builder.row({.step = -1, .time_s = time, .epoch = kMissing}, lines.number());
    builder.set_mb(column, mib * kMib);
  }
  return builder.finish(lines.number());
}

}  // namespace plateau
