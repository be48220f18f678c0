// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/units.h"
#include "fleet/fleet_words.h"

namespace plateau::fleet {
namespace {

constexpr size_t kIndent = 11;

std::string headed(const View& view, const Finding& finding) {
  const std::string word = finding.word == Word::leak ? "LEAK" : "UNDECIDED";
  return paint(view, word_ink(finding.word), pad_right(word, kIndent)) +
         paint(view, Ink::bold, printable(title_of(finding)));
}

std::string block_of(const Finding& finding, const Asked& asked, const View& view) {
  std::string text = headed(view, finding) + '\n';
  const std::string margin(kIndent, ' ');
  const size_t width = std::max<size_t>(view.width, 60) - kIndent;
  for (const std::string& line : wrap(what_happens(finding, asked.member), width)) {
    text += margin + line + '\n';
  }
  if (view.plot) {
    text += margin + paint(view, word_ink(finding.word), sparkline(finding.spark, view.utf8)) +
            fmt::format("  {} now\n", format_mb(finding.last_mb));
  }
  const std::string more = fmt::format("{}", fmt::join(what_else(finding), "; "));
  for (const std::string& line : wrap(printable(more), width)) {
    text += margin + paint(view, Ink::dim, line) + '\n';
  }
  return text + '\n';
}

}  // namespace

std::string render_fleet(const FleetAnswer& answer, const Asked& asked, const View& view,
                         size_t most_undecided) {
  std::string text;
  text += paint(view, Ink::dim,
                fmt::format("{} of {}, {} until {}", printable(asked.what), printable(asked.origin),
                            format_seconds(answer.window_s), format_utc(answer.end_s))) +
          "\n\n";
  size_t undecided = 0;
  for (const Finding& finding : answer.findings) {
    if (finding.word == Word::undecided && ++undecided > most_undecided) continue;
    text += block_of(finding, asked, view);
  }
  if (undecided > most_undecided) {
    text += fmt::format("{}{} more that are undecided; --json lists all\n\n",
                        std::string(kIndent, ' '), undecided - most_undecided);
  }
  text += wrapped(summary_of(answer), view.width);
  for (const std::string& caveat : caveats_of(answer))
    text += wrapped(printable(caveat), view.width);
  return view.utf8 ? text : to_ascii(text);
}

std::string fleet_json(const FleetAnswer& answer) {
  std::string lines;
  for (const Finding& f : answer.findings) {
    JsonWriter json;
    json.begin_object()
        .members("workload", f.workload, "namespace", text_or_null(f.space), "verdict",
                 word_name(f.word), "leak_probability", f.leak_probability, "pods", f.members,
                 "pods_affected", f.affected, "growth_mb_per_hour", f.growth_mb_per_hour,
                 "limit_eta_s", f.limit_in_s, "since", f.since)
        .members("cluster", text_or_null(f.cluster), "container", text_or_null(f.container),
                 "version", text_or_null(f.version), "since_unix_s", f.since_s, "odd_one",
                 value_if(f.odd_one && !f.examples.empty(),
                          f.examples.empty() ? std::string() : f.examples.front()),
                 "examples", f.examples, "restarts", f.restarts, "deaths_at_limit", f.deaths,
                 "memory_mb", f.last_mb, "log_bayes_factor", f.log_factor, "bounded_fdr", f.bounded,
                 "held_back", f.held_back, "load", load_source_name(f.load))
        .end_object();
    lines += json.take() + '\n';
  }
  JsonWriter json;
  json.begin_object()
      .members("series_judged", answer.series_judged, "series_failed", answer.series_failed, "fdr",
               answer.most_false)
      .members("expected_fdr", answer.expected_false_share, "null_share", answer.null_share,
               "cautious_null_share", answer.cautious_null_share, "leaks", answer.leaks(),
               "workloads", answer.workloads, "series_brief", answer.series_brief, "duplicates",
               answer.duplicates, "samples", answer.samples, "window_s", answer.window_s,
               "end_unix_s", answer.end_s, "partial", answer.partial(), "troubles", answer.troubles,
               "warnings", answer.warnings)
      .end_object();
  return lines + json.take() + '\n';
}

}  // namespace plateau::fleet
