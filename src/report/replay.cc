// SPDX-License-Identifier: Apache-2.0
#include "report/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "report/layout.h"
#include "report/printable.h"
#include "words/phrases.h"

namespace plateau {
namespace {

std::string replay_row(const Verdict& verdict, const View& view) {
  const std::string word = pad_right(word_name(verdict.word), 10);
  std::string row = fmt::format(
      "{}  {}  {}{}", pad_left(moment_phrase(verdict.clock, verdict.last_step), 12),
      pad_left(format_mb(verdict.last_mb), 9), paint(view, word_ink(verdict.word), word),
      pad_left(confidence_phrase(verdict.confidence), 8));
  if (verdict.decides_at_step) {
    row += fmt::format("  not before {}", moment_phrase(verdict.clock, *verdict.decides_at_step));
  }
  if (verdict.forecast && verdict.word != Word::plateau) {
    row += fmt::format("  level near {}", format_mb(verdict.forecast->plateau_mb));
  }
  return row;
}

}  // namespace

std::string render_replay(std::span<const Verdict> prefixes, const View& view, bool every) {
  Layout layout(view);
  for (size_t i = 0; i < prefixes.size(); ++i) {
    const bool changed = i == 0 || prefixes[i].word != prefixes[i - 1].word;
    if (!every && !changed && i + 1 != prefixes.size()) continue;
    layout.line(replay_row(printable_verdict(prefixes[i]), view));
  }
  if (prefixes.empty()) {
    layout.line("too few samples to replay");
    return layout.take();
  }
  const Verdict& last = prefixes.back();
  if (const std::optional<double> since = knew_at(prefixes)) {
    layout.line(fmt::format("knew at {}: {}, of {} samples up to {}",
                            moment_phrase(last.clock, *since), word_name(last.word), last.samples,
                            moment_phrase(last.clock, last.last_step)));
  } else {
    layout.line(fmt::format("not known by {}", moment_phrase(last.clock, last.last_step)));
  }
  return layout.take();
}

}  // namespace plateau
