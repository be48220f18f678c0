// SPDX-License-Identifier: Apache-2.0
#include "session/heard.h"

namespace plateau {
namespace {

constexpr double kFreshSeconds = 10;

}  // namespace

void Heard::hear(std::string_view text, double at_s) {
  const std::optional<LastWords> words = find_last_words(text);
  if (!words) return;
  OfKind& kind = kinds_[static_cast<size_t>(words->kind)];
  kind.waiting = text;
  kind.heard_s = at_s;
}

std::optional<std::string> Heard::take(double at_s, bool last) {
  for (OfKind& kind : kinds_) {
    if (kind.waiting.empty()) continue;
    const bool due = at_s >= kind.next_s || (last && at_s - kind.heard_s < kFreshSeconds);
    if (!due) continue;
    kind.next_s = at_s + kind.pause_s;
    kind.pause_s *= 2;
    std::string text = quote_of(kind.waiting);
    kind.waiting.clear();
    return text;
  }
  return std::nullopt;
}

}  // namespace plateau
