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
  const auto write = [](JsonWriter& each, const Fragment& fragment) {
    if (fragment.field.empty()) {
      each.value(fragment.text);
    } else {
      each.begin_array().value(fragment.text).value(fragment.field).end_array();
    }
  };
  json.value(json_list(sentence, write));
}

auto said(Sentence sentence) {
  return [sentence = std::move(sentence)](JsonWriter& json) { write_sentence(json, sentence); };
}

void write_paragraph(JsonWriter& json, const Paragraph& each) {
  json.value(json_object("role", role_name(each.role), "lead", lead_of(each.role), "claim",
                         said(each.claim), "detail", said(each.detail)));
}

// What the sections below the first screen tell, beside the same lists of the verdict.
void write_details(JsonWriter& json, const Verdict& verdict) {
  const auto told = [&verdict](const Finding& finding) {
    return said(tell_sentence(finding, verdict));
  };
  const auto cause = [&told, &verdict](JsonWriter& each, const Cause& of) {
    each.value(json_object("evidence", told(of.evidence), "fix", said(fix_of(of, verdict))));
  };
  const auto explanation = [&told](JsonWriter& each, const Explanation& of) {
    each.value(json_object("for", json_list(of.speaks_for, told), "against",
                           json_list(of.speaks_against, told)));
  };
  json.members("evidence", json_list(verdict.evidence, told));
  json.members("causes", json_list(verdict.causes, cause));
  json.members("explanations", json_list(verdict.explanations, explanation));
}

}  // namespace

void write_said(JsonWriter& json, const PageRun& page) {
  const Verdict& verdict = page.clean;
  const Labelled course = course_of(verdict);
  json.key("said").begin_object().members("headline", answer_of(verdict));
  json.members("course", json_object("label", course.label, "text", said(course.text)));
  json.members("since", harmless(since_phrase(verdict)), "who", said(culprit_of(verdict)));
  json.members("site", harmless(verdict.site.empty() ? "" : "grows at " + verdict.site));
  json.members("why", json_list(why_of(verdict), write_paragraph));
  json.members("next", json_list(next_of(verdict), write_paragraph));
  const Sentence open = tell_sentence(verdict.undecided_because, verdict);
  json.members("undecided", said(as_sentence(open)), "risk", said(risk_of(verdict)));
  json.members("peaks", said(peaks_of(verdict)));
  write_details(json, verdict);
  json.members("text", render_verdict(page.answer->verdict, View{})).end_object();
}

}  // namespace plateau
