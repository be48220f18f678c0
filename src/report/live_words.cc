// SPDX-License-Identifier: Apache-2.0
#include "report/live_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "words/phrases.h"

namespace plateau {

std::string amount(double mb) {
  return std::isfinite(mb) && mb >= 0 ? format_mb(mb) : "-";
}

std::string signed_amount(double mb) {
  return std::isfinite(mb) ? format_mb_signed(mb) : "-";
}

std::string count_text(int64_t value) {
  return value < 0 ? "-" : format_count(value);
}

std::string percent_text(double value) {
  return std::isfinite(value) && value >= 0 ? fmt::format("{:.0f}", value) : "-";
}

std::string hms(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  const auto whole = static_cast<int64_t>(std::min(seconds, 1e12));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string step_phrase(const LiveState& state) {
  if (state.step < 0) return "";
  std::string text = "step " + format_count(state.step);
  if (state.total_steps >= 0) text += "/" + format_count(state.total_steps);
  return text;
}

std::string pace_phrase(const Verdict& verdict) {
  const double now = verdict.current_rate_mb_per_step;
  const double rate = now != 0 ? now : verdict.rate_mb_per_step;
  const bool moves = verdict.samples > 1 && !verdict.settled && rate != 0;
  return moves ? rate_phrase(verdict.clock, rate) : "level";
}

std::string movement_phrase(const Verdict& verdict) {
  if (verdict.samples < 2) return "";
  if (verdict.settled) {
    return fmt::format("level at {} since {}",
                       band_phrase(verdict.settled->mb, verdict.settled->range),
                       moment_phrase(verdict.clock, verdict.settled->step));
  }
  std::string what = verdict.component.empty() ? "memory" : verdict.component;
  if (what != "memory") what += " memory";
  return fmt::format("{} {}", what, pace_phrase(verdict));
}

std::string fit(const View& view, std::string_view text, size_t width) {
  if (view.utf8) return shorten(text, width);
  std::string plain = to_ascii(text);
  if (plain.size() > width) {
    plain.resize(width);
    if (width > 0) plain.back() = '~';
  }
  return plain;
}

std::string ink(const View& view, Ink color, std::string_view text) {
  return paint(view, color, view.utf8 ? std::string(text) : to_ascii(text));
}

std::string joined(const View& view, const std::vector<Piece>& pieces, size_t width) {
  constexpr size_t kBetween = 3;
  std::string out;
  size_t used = 0;
  for (const Piece& piece : pieces) {
    if (piece.text.empty()) continue;
    if (used == 0) {
      const std::string text = fit(view, piece.text, width);
      out = paint(view, piece.ink, text);
      used = display_width(text);
      continue;
    }
    const std::string text = fit(view, piece.text, piece.text.size());
    if (used + kBetween + display_width(text) > width) continue;
    out += ink(view, Ink::dim, " · ") + paint(view, piece.ink, text);
    used += kBetween + display_width(text);
  }
  return out;
}

}  // namespace plateau
