// SPDX-License-Identifier: Apache-2.0
// The sentences of the terminal report, for the top of the page.
#include "page/page_numbers.h"
#include "page/page_run.h"
#include "report/terminal.h"
#include "words/finding_table.h"
#include "words/paragraphs.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

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

void write_findings(JsonWriter& json, const std::vector<Finding>& findings,
                    const Verdict& verdict) {
  json.begin_array();
  for (const Finding& finding : findings) write_sentence(json, tell_sentence(finding, verdict));
  json.end_array();
}

// What the sections below the first screen tell, beside the same lists of the verdict.
void write_details(JsonWriter& json, const Verdict& verdict) {
  json.key("evidence");
  write_findings(json, verdict.evidence, verdict);
  json.key("causes").begin_array();
  for (const Cause& cause : verdict.causes) {
    json.begin_object().key("evidence");
    write_sentence(json, tell_sentence(cause.evidence, verdict));
    json.key("fix");
    write_sentence(json, fix_of(cause));
    json.end_object();
  }
  json.end_array().key("explanations").begin_array();
  for (const Explanation& explanation : verdict.explanations) {
    json.begin_object().key("for");
    write_findings(json, explanation.speaks_for, verdict);
    json.key("against");
    write_findings(json, explanation.speaks_against, verdict);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_said(JsonWriter& json, const PageRun& page) {
  const Verdict& verdict = page.clean;
  json.key("said").begin_object().key("headline").value(answer_of(verdict));
  const Labelled course = course_of(verdict);
  json.key("course").begin_object().key("label").value(course.label);
  json.key("text");
  write_sentence(json, course.text);
  json.end_object().key("since");
  write_text(json, since_phrase(verdict));
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
  write_details(json, verdict);
  json.key("text").value(render_verdict(page.answer->verdict, View{}));
  json.end_object();
}

}  // namespace plateau
