// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/job_rows.h"
#include "report/layout.h"
#include "report/plot.h"
#include "report/printable.h"
#include "words/finding_table.h"
#include "words/paragraphs.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr size_t kMostProcesses = 6;
constexpr size_t kMostTied = 4;
constexpr size_t kMostWarnings = 6;
// An explanation below this share is not part of a tie.
constexpr double kTied = 0.05;
// A rate that moves a component by less than this share of it over the whole run is no rate.
constexpr double kWorthARate = 0.01;
// File-backed growth from this share on is excused as reclaimable; less goes without saying.
constexpr double kWorthExcusing = 0.1;

void say_all(std::string_view label, const std::vector<Paragraph>& paragraphs, Layout& layout) {
  for (const Paragraph& each : paragraphs) layout.say(label, plain(each), lead_of(each.role));
}

void say_tied(const Verdict& verdict, Layout& layout) {
  if (verdict.word != Word::undecided) return;
  // The list below names the two camps better than the reason does.
  const bool listed = verdict.undecided_because.kind == FindingKind::two_camps_fit &&
                      verdict.explanations.size() > 1 && verdict.explanations[1].weight >= kTied;
  if (!listed) {
    layout.say("Open", plain(as_sentence(tell_sentence(verdict.undecided_because, verdict))));
  }
  // Without a confidence there were too few samples to weigh anything.
  if (verdict.confidence == 0) return;
  if (listed) layout.say("Open", "leading explanations, by weight:");
  size_t shown = 0;
  for (const Explanation& explanation : verdict.explanations) {
    if (explanation.weight < kTied || shown++ == kMostTied) break;
    layout.say("Open",
               fmt::format("{}: {}", explanation_phrase(explanation, verdict.clock),
                           destination_of(verdict, explanation)),
               fmt::format("• {}", percent_phrase(explanation.weight)));
  }
}

// One row; what does not fit a narrow terminal is left off its end, the rate before the amounts.
std::string component_row(const Verdict& verdict, const ComponentVerdict& component, size_t widest,
                          const View& view) {
  const std::string word = pad_right(word_name(component.word), 10);
  std::string row =
      fmt::format("{}  {}{}  {}", pad_right(shorten(component.name, widest), widest),
                  paint(view, word_ink(component.word), word),
                  pad_left(confidence_phrase(component.confidence), 8),
                  pad_right(from_to_phrase(component.first_mb, component.last_mb), 18));
  size_t used = Layout::kMargin + widest + 40;
  const double moved = component.rate_mb_per_step * (verdict.last_step - verdict.first_step);
  const bool decides = component.name == verdict.component;
  const bool level = component.word == Word::plateau
                         ? !(decides && verdict.creeps)
                         : std::fabs(moved) < kWorthARate * component.last_mb;
  std::string rate = level ? "level" : rate_phrase(verdict.clock, component.rate_mb_per_step);
  if (component.confidence == 0) rate.clear();  // Too few samples for any.
  for (const std::string& part : {rate, std::string(decides ? "decides" : "")}) {
    used += 2 + display_width(part);
    if (part.empty()) continue;
    if (used > view.width) break;
    row += "  " + part;
  }
  return row;
}

void say_components(const Verdict& verdict, Layout& layout, const View& view) {
  if (verdict.components.size() < 2) return;
  size_t widest = 4;
  for (const ComponentVerdict& component : verdict.components) {
    widest = std::max(widest, display_width(component.name));
  }
  widest = std::min<size_t>(widest, 12);
  for (const ComponentVerdict& component : verdict.components) {
    const double grew = component.last_mb - component.first_mb;
    if (component.first_mb == 0 && component.last_mb == 0) continue;
    layout.row("Pages", component_row(verdict, component, widest, view));
    if (component.reclaimable && grew > kWorthExcusing * component.first_mb) {
      layout.say("Pages",
                 "file-backed growth is reclaimable: the kernel takes it back when needed.");
    }
  }
}

void say_processes(const Verdict& verdict, Layout& layout, const View& view) {
  layout.say("Who", plain(culprit_of(verdict)));
  if (!verdict.site.empty()) layout.say("Who", verdict.site + ".", "Grows at:");
  if (verdict.processes.size() < 2) return;
  const size_t name_width = std::clamp<size_t>(view.width, 56, 74) - Layout::kMargin - 30;
  size_t shown = 0;
  double rest_mb = 0;
  for (const ProcessGrowth& process : verdict.processes) {
    if (shown++ >= kMostProcesses) {
      rest_mb += process.growth_mb;
      continue;
    }
    const std::string name = shorten(process_phrase(process), name_width);
    layout.row("Who", fmt::format("{}  {}  {}", pad_right(name, name_width),
                                  pad_right(from_to_phrase(process.first_mb, process.last_mb), 18),
                                  pad_left(percent_phrase(process.share), 8)));
  }
  if (shown > kMostProcesses) {
    layout.row("Who", fmt::format("and {} more: {} together", shown - kMostProcesses,
                                  format_mb_signed(rest_mb)));
  }
}

void say_warnings(const Verdict& verdict, Layout& layout) {
  std::vector<std::string> notes;
  notes.reserve(verdict.warnings.size() + verdict.notes.size());
  for (const Finding& warning : verdict.warnings) notes.push_back(tell(warning, verdict));
  notes.insert(notes.end(), verdict.notes.begin(), verdict.notes.end());
  for (size_t i = 0; i < std::min(notes.size(), kMostWarnings); ++i) layout.say("Note", notes[i]);
  if (notes.size() > kMostWarnings) {
    layout.say("Note",
               fmt::format("and {} more; --json lists them all.", notes.size() - kMostWarnings));
  }
}

constexpr size_t kWordWidth = 9;

void say_headline(const Verdict& verdict, const View& view, Layout& layout) {
  std::string text = answer_of(verdict);
  if (!verdict.title.empty()) text += " · " + verdict.title;
  std::string margin =
      paint(view, word_ink(verdict.word), pad_right(word_upper(verdict.word), kWordWidth));
  for (const std::string& line : wrap(text, view.width - kWordWidth - 1)) {
    layout.line(fmt::format("{} {}", margin, line));
    margin.assign(kWordWidth, ' ');
  }
}

}  // namespace

std::string render_headline(const Verdict& verdict, const View& view) {
  Layout layout(view);
  say_headline(printable_verdict(verdict), view, layout);
  return layout.take();
}

std::string render_verdict(const Verdict& verdict, const View& view) {
  const Verdict clean = printable_verdict(verdict);
  Layout layout(view);
  say_headline(clean, view, layout);
  const Labelled course = course_of(clean);
  layout.say(course.label, plain(course.text));
  if (clean.onset_step > clean.first_step) {
    layout.say(course.label, plain(as_sentence({{since_phrase(clean), ""}})));
  }
  layout.say("Peaks", plain(peaks_of(clean)));
  say_tied(clean, layout);
  say_all("Why", why_of(clean), layout);
  say_all("Next", next_of(clean), layout);
  layout.say("Risk", plain(risk_of(clean)));
  say_job(clean, view, layout);
  say_processes(clean, layout, view);
  say_components(clean, layout, view);
  say_warnings(clean, layout);
  std::string text = layout.take();
  // The plot speaks ASCII by itself, so that its marks stay apart.
  if (view.plot) text += render_plot(clean, view);
  return text;
}

std::string render_line(const Verdict& verdict, const View& view) {
  const Verdict clean = printable_verdict(verdict);
  const std::string word = pad_right(word_upper(clean.word), kWordWidth);
  std::string rest = headline_of(clean);
  for (const std::string& part : {clean.file, clean.title}) {
    if (!part.empty()) rest += (rest.empty() ? "" : " · ") + part;
  }
  const std::string moved =
      clean.samples == 0 ? "no samples" : from_to_phrase(clean.first_mb, clean.last_mb);
  Layout layout(view);
  layout.line(fmt::format("{} {}  {}  {}", paint(view, word_ink(clean.word), word),
                          pad_left(confidence_phrase(clean.confidence), 8), pad_right(moved, 18),
                          rest));
  return layout.take();
}

}  // namespace plateau
