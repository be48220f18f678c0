// SPDX-License-Identifier: Apache-2.0
#include "report/status_line.h"

#include <fmt/format.h>

#include "base/units.h"
#include "words/phrases.h"

namespace plateau {

std::string render_status(const Verdict& verdict, const View& view) {
  const std::string word = paint(view, word_ink(verdict.word), word_name(verdict.word));
  if (verdict.samples == 0) return word + " no samples yet";
  std::string out = fmt::format("{} {}", word, format_mb(verdict.last_mb));
  if (verdict.word == Word::warming && verdict.forecast) {
    return out + fmt::format(", ends near {}", format_mb(verdict.forecast->plateau_mb));
  }
  const double rate = verdict.current_rate_mb_per_step;
  if (verdict.word == Word::plateau || rate == 0) return out;
  return out + " " + rate_phrase(verdict.clock, rate);
}

}  // namespace plateau
