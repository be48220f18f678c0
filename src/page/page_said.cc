// SPDX-License-Identifier: Apache-2.0
// The sentences of the terminal report, for the top of the page.
#include "page/page_numbers.h"
#include "page/page_run.h"
#include "report/answers.h"
#include "report/phrases.h"
#include "report/sentences.h"
#include "report/terminal.h"

namespace plateau {
namespace {

std::string joined(const Paragraph& paragraph) {
  return paragraph.lead.empty() ? paragraph.text : paragraph.lead + " " + paragraph.text;
}

void write_paragraphs(JsonWriter& json, const std::vector<Paragraph>& paragraphs) {
  json.begin_array();
  for (const Paragraph& each : paragraphs) json.value(joined(each));
  json.end_array();
}

}  // namespace

void write_said(JsonWriter& json, const PageRun& page) {
  const Verdict& verdict = page.clean;
  json.key("said").begin_object().key("headline").value(answer_of(verdict));
  const Labelled course = course_of(verdict);
  json.key("course").begin_object().key("label").value(course.label);
  json.key("text").value(course.text).end_object().key("since");
  write_text(json, since_phrase(verdict));
  json.key("who");
  write_text(json, culprit_of(verdict));
  json.key("site");
  write_text(json, verdict.site.empty() ? "" : "grows at " + verdict.site);
  json.key("why");
  write_paragraphs(json, why_of(verdict));
  json.key("next");
  write_paragraphs(json, next_of(verdict));
  json.key("risk");
  write_text(json, risk_of(verdict));
  json.key("peaks");
  write_text(json, peaks_of(verdict));
  json.key("text").value(render_verdict(page.answer->verdict, View{}));
  json.end_object();
}

}  // namespace plateau
