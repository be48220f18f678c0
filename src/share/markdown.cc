// SPDX-License-Identifier: Apache-2.0
#include "share/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "base/units.h"
#include "report/compare.h"
#include "report/printable.h"
#include "report/terminal.h"
#include "share/mermaid_chart.h"
#include "words/cause_table.h"
#include "words/finding_table.h"
#include "words/paragraphs.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

// The report in the code block is as wide as issues show without a scroll bar.
constexpr View kFolded = {.width = 80, .color = false, .utf8 = true, .plot = true};

void item(std::string_view name, const std::string& text, std::string& out) {
  if (!text.empty()) out += fmt::format("- **{}:** {}\n", name, markdown_escaped(text));
}

std::string answer(const Verdict& verdict) {
  std::string out =
      fmt::format("## {}: {}\n\n", word_upper(verdict.word), markdown_escaped(answer_of(verdict)));
  const Labelled course = course_of(verdict);
  item(course.label, plain(course.text), out);
  if (verdict.onset_step > verdict.first_step) item("Since", since_phrase(verdict), out);
  item("Process", plain(culprit_of(verdict)), out);
  item("Place", verdict.site, out);
  item("Peaks", plain(peaks_of(verdict)), out);
  item("Risk", plain(risk_of(verdict)), out);
  return out;
}

std::string figures(const Verdict& verdict) {
  std::vector<std::pair<std::string_view, std::string>> rows;
  const Clock clock = verdict.clock;
  if (verdict.samples > 0) {
    rows.emplace_back("memory", from_to_phrase(verdict.first_mb, verdict.last_mb));
    rows.emplace_back("over", span_phrase(clock, verdict.first_step, verdict.last_step));
  }
  if (verdict.samples > 1) {
    rows.emplace_back("growth while it lasted", rate_phrase(clock, verdict.rate_mb_per_step));
    const double now = verdict.current_rate_mb_per_step;
    rows.emplace_back("growth now", now == 0 ? "level" : rate_phrase(clock, now));
  }
  if (verdict.settled) {
    rows.emplace_back("level", fmt::format("{} since {}", format_mb(verdict.settled->mb),
                                           moment_phrase(clock, verdict.settled->step)));
  } else if (verdict.forecast) {
    rows.emplace_back("would level near", format_mb(verdict.forecast->plateau_mb));
  }
  if (verdict.risk.limit_mb) rows.emplace_back("limit", format_mb(*verdict.risk.limit_mb));
  if (verdict.risk.oom) rows.emplace_back("out of memory", percent_phrase(*verdict.risk.oom));
  rows.emplace_back("samples", count_phrase(static_cast<double>(verdict.samples)));
  std::string out = "\n| figure | value |\n|---|---|\n";
  for (const auto& [name, value] : rows) {
    out += fmt::format("| {} | {} |\n", name, markdown_escaped(value));
  }
  return out;
}

std::string causes(const Verdict& verdict) {
  if (verdict.causes.empty()) return "";
  std::string out = "\n### Causes\n\n";
  for (const Cause& cause : verdict.causes) {
    const CauseWords& words = cause_words(cause.name, verdict);
    out += fmt::format("1. {}\n", markdown_escaped(plain(cause_paragraph(cause, verdict))));
    if (const std::string_view confirm = words.experiment(verdict.over); !confirm.empty()) {
      out += fmt::format("   - Confirm: {}\n", markdown_escaped(confirm));
    }
    if (!words.fix.empty()) {
      out += fmt::format("   - Fix: {}\n", markdown_escaped(plain(fix_of(cause, verdict))));
    }
  }
  return out;
}

std::string next(const Verdict& verdict) {
  std::string out;
  for (const Paragraph& each : next_of(verdict)) {
    const std::string_view lead = lead_of(each.role);
    out += fmt::format("- {}{}{}\n", lead, lead.empty() ? "" : " ", markdown_escaped(plain(each)));
  }
  for (const Finding& warning : verdict.warnings) {
    out += fmt::format("- Note: {}\n", markdown_escaped(tell(warning, verdict)));
  }
  for (const std::string& note : verdict.notes) {
    out += fmt::format("- Note: {}\n", markdown_escaped(note));
  }
  return out.empty() ? "" : "\n### Next\n\n" + out;
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  constexpr std::string_view kMarks = "\\`*_{}[]#|~";
  std::string out;
  const std::string line = printable(text);
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '@') {
      out += "@\xE2\x80\x8B";  // A space of no width: notifies nobody.
    } else {
      if (kMarks.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string markdown_code_block(std::string_view text) {
  size_t longest = 2, now = 0;
  for (const char c : text) {
    now = c == '`' ? now + 1 : 0;
    longest = std::max(longest, now);
  }
  const std::string fence(longest + 1, '`');
  while (text.ends_with('\n')) text.remove_suffix(1);
  return fmt::format("{0}text\n{1}\n{0}\n", fence, text);
}

std::string verdict_markdown(const Verdict& verdict, std::string_view picture) {
  const Verdict clean = printable_verdict(verdict);
  std::string out = answer(clean);
  if (picture.empty()) {
    const std::string chart = mermaid_chart(clean);
    if (!chart.empty()) out += "\n" + chart;
  } else {
    out += fmt::format("\n![memory over the run: {}](<{}>)\n", word_name(clean.word), picture);
  }
  out += figures(clean) + causes(clean) + next(clean);
  out += fmt::format("\nSource: {}{}{}\n", markdown_escaped(clean.file),
                     clean.title.empty() ? "" : ", ", markdown_escaped(clean.title));
  out += "\n<details><summary>Terminal report</summary>\n\n";
  out += markdown_code_block(render_verdict(verdict, kFolded));
  return out + "\n</details>\n";
}

std::string comparison_markdown(const Comparison& comparison) {
  const ComparedSide& baseline = comparison.sides.front();
  std::string out;
  for (const Change& change : comparison.changes) {
    const ComparedSide& side = comparison.sides[change.side];
    const auto named = [](const ComparedSide& of) {
      return markdown_escaped(of.verdicts.front().file);
    };
    out += fmt::format(
        "## {}: {}\n\n{}.\n\n| figure | {} (baseline) | {} | difference (99 %) |\n"
        "|---|---|---|---|\n| verdict | {} | {} | |\n",
        comparison_stamp(comparison), markdown_escaped(delta_sentence(change)),
        markdown_escaped(change_sentence(comparison, change)), named(baseline), named(side),
        word_name(baseline.word), word_name(side.word));
    for (const FigureRow& row : kFigureRows) {
      const auto index = static_cast<size_t>(row.kind);
      if (!change.before[index] && !change.after[index]) continue;
      const std::optional<Difference>& found = change.differences[index];
      const std::string difference =
          found ? difference_phrase(row.kind, change.clock, *found) : std::string();
      const std::string_view strong = found && found->significant ? "**" : "";
      out += fmt::format("| {} | {} | {} | {}{}{} |\n", row.title,
                         figure_phrase(row.kind, change.clock, change.before[index]),
                         figure_phrase(row.kind, change.clock, change.after[index]), strong,
                         markdown_escaped(difference), strong);
    }
    out += "\nBold is significant.\n";
    for (const std::string& warning : warnings_of(change)) {
      out += fmt::format("- Note: {}\n", markdown_escaped(warning));
    }
  }
  return out;
}

}  // namespace plateau
