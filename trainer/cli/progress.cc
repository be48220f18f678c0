// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"

namespace plateau::train {
namespace {

constexpr size_t kBarColumns = 20;

std::string bar(int64_t done, int64_t total, size_t columns) {
  const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
  const auto filled = static_cast<size_t>(std::lround(share * static_cast<double>(columns)));
  return "[" + std::string(std::min(filled, columns), '#') +
         std::string(columns - std::min(filled, columns), '.') + "] ";
}

std::string rate_text(double steps_per_second) {
  if (steps_per_second >= 1) return fmt::format("{:.1f} steps/s", steps_per_second);
  return fmt::format("{:.{}f} s/step", 1 / steps_per_second, steps_per_second > 0.1 ? 1 : 0);
}

}  // namespace

std::string progress_line(const Progress& progress, size_t width) {
  const double rate = progress.steps_per_second;
  const auto steps_left = static_cast<double>(progress.total_steps - progress.step);
  const std::string head =
      fmt::format("{}/{}  loss {:.4f}", progress.step, progress.total_steps, progress.loss);
  struct Part {
    std::string text;
    int rank;  // The highest goes first.
  };
  std::array<Part, 4> parts = {{{rate > 0 ? rate_text(rate) : "", 4},
                                {rate > 0 ? format_seconds(steps_left / rate) + " left" : "", 2},
                                {format_mb(progress.resident_mb), 1},
                                {progress.verdict, 3}}};
  const auto line = [&](size_t bar_columns, int highest) {
    std::string out =
        bar_columns > 0 ? bar(progress.step, progress.total_steps, bar_columns) : std::string();
    out += head;
    for (const Part& part : parts) {
      if (part.rank <= highest && !part.text.empty()) out += "  " + part.text;
    }
    return out;
  };
  for (const size_t columns : {kBarColumns, kBarColumns / 2}) {
    if (std::string out = line(columns, 4); out.size() <= width) return out;
  }
  for (int highest = 4; highest > 0; --highest) {
    if (std::string out = line(0, highest); out.size() <= width) return out;
  }
  return head.substr(0, width);
}

}  // namespace plateau::train
