// SPDX-License-Identifier: Apache-2.0
#include "report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/compare_plot.h"
#include "report/layout.h"
#include "words/phrases.h"

namespace plateau {
namespace {

constexpr size_t kNameColumn = 14;
constexpr size_t kValueColumn = 14;
// A wide terminal gains nothing from longer lines of prose.
constexpr size_t kWidestHeadline = 110;

bool is_better(GrowthChange growth) {
  return growth == GrowthChange::removed || growth == GrowthChange::ends_now ||
         growth == GrowthChange::reduced || growth == GrowthChange::slower;
}

struct Stamp {
  std::string_view word;
  Ink ink;
};

Stamp stamp_of(const Comparison& comparison) {
  if (comparison.outcome == Outcome::worse) return {"WORSE", Ink::red};
  if (comparison.outcome == Outcome::undecided) return {"UNDECIDED", Ink::yellow};
  const bool better = std::any_of(comparison.changes.begin(), comparison.changes.end(),
                                  [](const Change& change) { return is_better(change.growth); });
  return better ? Stamp{"BETTER", Ink::green} : Stamp{"NO WORSE", Ink::green};
}

// "B: ..." in front of each sentence when there are several.
std::string sentence_of(const Comparison& comparison, const Change& change) {
  std::string sentence = change_sentence(comparison, change);
  if (comparison.changes.size() == 1) return sentence;
  return comparison.sides[change.side].name + ": " + sentence;
}

std::string stamped(const Comparison& comparison, const View& view) {
  const Stamp stamp = stamp_of(comparison);
  return paint(view, stamp.ink, pad_right(stamp.word, 9));
}

std::string run_line(const ComparedSide& side, const Verdict& verdict, const View& view) {
  const std::string word =
      paint(view, word_ink(verdict.word), pad_right(word_name(verdict.word), 9));
  const std::string length = length_phrase(verdict.clock, verdict.last_step - verdict.first_step);
  std::string name = printable(verdict.file);
  if (!verdict.title.empty()) name += " · " + printable(verdict.title);
  const std::string left =
      fmt::format("  {}  {} {}  {}  {}  ", paint(view, Ink::bold, side.name), word,
                  pad_left(confidence_phrase(verdict.confidence), 8), pad_left(length, 12),
                  pad_left(format_count(static_cast<int64_t>(verdict.samples)) + " samples", 14));
  constexpr size_t kUsed = 56;
  return left + shorten(name, view.width > kUsed + 12 ? view.width - kUsed : 12);
}

std::string table_row(FigureKind kind, std::string_view name, const Change& change,
                      const View& view) {
  const auto index = static_cast<size_t>(kind);
  const std::optional<Figure>& before = change.before[index];
  const std::optional<Figure>& after = change.after[index];
  if (!before && !after) return "";
  std::string row = "  " + pad_right(name, kNameColumn) +
                    pad_right(figure_phrase(kind, change.clock, before), kValueColumn) +
                    pad_right(figure_phrase(kind, change.clock, after), kValueColumn);
  const std::optional<Difference>& difference = change.differences[index];
  if (difference) {
    const size_t used = 2 + kNameColumn + 2 * kValueColumn + 2;
    const std::string text = shorten(difference_phrase(kind, change.clock, *difference),
                                     view.width > used + 10 ? view.width - used : 10);
    row += difference->significant ? paint(view, Ink::bold, "* " + text)
                                   : paint(view, Ink::dim, "  " + text);
  }
  row.resize(row.find_last_not_of(' ') + 1);
  return row;
}

void add_table(const Comparison& comparison, const Change& change, const View& view,
               Layout& layout) {
  const std::string& a = comparison.sides.front().name;
  const std::string& b = comparison.sides[change.side].name;
  layout.line("");
  if (change.to > change.from) {
    layout.line(fmt::format("  {}{}{}  {} - {} (99 %)", std::string(kNameColumn, ' '),
                            paint(view, Ink::bold, pad_right(a, kValueColumn)),
                            paint(view, Ink::bold, pad_right(b, kValueColumn)), b, a));
  }
  for (const FigureRow& row : kFigureRows) {
    const std::string text = table_row(row.kind, row.title, change, view);
    if (!text.empty() && change.to > change.from) layout.line(text);
  }
}

void add_notes(const Comparison& comparison, const Change& change, Layout& layout) {
  if (change.to > change.from) {
    layout.say("Over",
               fmt::format("{}, {} memory; the floor from {} on; * is significant.",
                           span_phrase(change.clock, change.from, change.to), change.component,
                           moment_phrase(change.clock, change.level_from)));
  }
  for (const std::string& warning : warnings_of(change)) {
    layout.say("Note", printable(warning));
  }
  if (!change.replicated) {
    layout.say("Note",
               fmt::format("one run a side: run-to-run variation is not known. "
                           "Several: {} {} --vs {} {}.",
                           comparison.sides.front().name + "1", comparison.sides.front().name + "2",
                           comparison.sides[change.side].name + "1",
                           comparison.sides[change.side].name + "2"));
  }
}

}  // namespace

std::string_view comparison_stamp(const Comparison& comparison) {
  return stamp_of(comparison).word;
}

std::string comparison_sentence(const Comparison& comparison) {
  std::string out;
  for (const Change& change : comparison.changes) {
    if (!out.empty()) out += " · ";
    out += sentence_of(comparison, change);
  }
  return out;
}

std::string render_comparison_line(const Comparison& comparison, const View& view) {
  Layout layout(view);
  layout.line(fmt::format("{} {}", stamped(comparison, view), comparison_sentence(comparison)));
  return layout.take();
}

std::string render_comparison(const Comparison& comparison, const View& view) {
  Layout layout(view);
  constexpr size_t kIndent = 10;
  const size_t width = std::min(view.width, kWidestHeadline) - kIndent;
  bool first = true;
  for (const Change& change : comparison.changes) {
    for (const std::string& line : wrap(sentence_of(comparison, change), width)) {
      layout.line((first ? stamped(comparison, view) + " " : std::string(kIndent, ' ')) + line);
      first = false;
    }
  }
  layout.line("");
  for (const ComparedSide& side : comparison.sides) {
    for (const Verdict& verdict : side.verdicts) {
      layout.line(run_line(side, verdict, view));
      if (verdict.site.empty()) continue;
      for (const std::string& line : wrap("grows at " + printable(verdict.site), width - 5)) {
        layout.line(std::string(5, ' ') + line);
      }
    }
  }
  for (const Change& change : comparison.changes) {
    add_table(comparison, change, view, layout);
    add_notes(comparison, change, layout);
  }
  std::string text = layout.take();
  // The plot speaks ASCII by itself, so that its lines stay apart.
  if (view.plot) text += render_comparison_plot(comparison, view);
  return text;
}

}  // namespace plateau
