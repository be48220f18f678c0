// SPDX-License-Identifier: Apache-2.0
// The sentences of the terminal report, for the top of the page.
//
// "Since when does it grow?" is answered here, from the floor that the verdict carries: the moment
// that lies furthest below the straight line from the floor's first point to its last. For steady
// growth no point does, and it grows since the start; for growth that sets in late the onset does.
// Worked case: 100 MB until step 400, then +1 MB a step until step 1,000, ends at 700 MB. The line
// passes 340 MB at step 400, 240 above the floor; nowhere is the distance larger.
// Blind spot: of several onsets the one before most of the growth is named.
#include <fmt/format.h>

#include <cmath>

#include "page/page_numbers.h"
#include "page/page_run.h"
#include "report/terminal.h"
#include "words/finding_table.h"
#include "words/paragraphs.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr double kWorthAnOnset = 0.15;  // Of all growth, below the line.

std::optional<double> onset_of(const Verdict& verdict) {
  std::vector<PlotPoint> floor;
  for (const PlotPoint& point : verdict.plot) {
    if (!point.spike) floor.push_back(point);
  }
  if (floor.size() < 2) return std::nullopt;
  const PlotPoint& first = floor.front();
  const PlotPoint& last = floor.back();
  const double growth = last.mb - first.mb;
  const double length = last.step - first.step;
  if (!(growth > 0) || !(length > 0)) return std::nullopt;
  double deepest = kWorthAnOnset * growth;
  double onset = first.step;
  for (const PlotPoint& point : floor) {
    const double below = first.mb + growth * (point.step - first.step) / length - point.mb;
    if (below > deepest) {
      deepest = below;
      onset = point.step;
    }
  }
  return onset;
}

// A sentence as the page wants it: plain words as strings, figures as [text, field].
void write_sentence(JsonWriter& json, const Sentence& sentence) {
  json.begin_array();
  for (const Fragment& fragment : sentence) {
    if (fragment.field.empty()) {
      json.value(fragment.text);
    } else {
      json.begin_array().value(fragment.text).value(fragment.field).end_array();
    }
  }
  json.end_array();
}

void write_paragraphs(JsonWriter& json, const std::vector<Paragraph>& paragraphs) {
  json.begin_array();
  for (const Paragraph& each : paragraphs) {
    json.begin_object().key("role").value(role_name(each.role));
    json.key("lead").value(lead_of(each.role)).key("claim");
    write_sentence(json, each.claim);
    json.key("detail");
    write_sentence(json, each.detail);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string since_of(const Verdict& verdict) {
  if (verdict.settled) {
    const bool all_along = verdict.settled->step <= verdict.first_step;
    return all_along ? "level from the start"
                     : "level since " + moment_phrase(verdict.clock, verdict.settled->step);
  }
  const bool grows = verdict.rate_range.low > 0 || verdict.word == Word::leak;
  if (!grows || verdict.samples < 2) return "";
  const std::optional<double> onset = onset_of(verdict);
  if (!onset) return "";
  return *onset <= verdict.first_step ? "growing from the start"
                                      : "growing since " + moment_phrase(verdict.clock, *onset);
}

void write_said(JsonWriter& json, const PageRun& page) {
  const Verdict& verdict = page.clean;
  json.key("said").begin_object().key("headline").value(answer_of(verdict));
  const Labelled course = course_of(verdict);
  json.key("course").begin_object().key("label").value(course.label);
  json.key("text");
  write_sentence(json, course.text);
  json.end_object().key("since");
  write_text(json, since_of(verdict));
  json.key("who");
  write_sentence(json, culprit_of(verdict));
  json.key("site");
  write_text(json, verdict.site.empty() ? "" : "grows at " + verdict.site);
  json.key("why");
  write_paragraphs(json, why_of(verdict));
  json.key("next");
  write_paragraphs(json, next_of(verdict));
  json.key("undecided");
  write_sentence(json, as_sentence(tell_sentence(verdict.undecided_because, verdict)));
  json.key("risk");
  write_sentence(json, risk_of(verdict));
  json.key("peaks");
  write_sentence(json, peaks_of(verdict));
  json.key("text").value(render_verdict(page.verdict, View{}));
  json.end_object();
}

}  // namespace plateau
