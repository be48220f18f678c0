// SPDX-License-Identifier: Apache-2.0
#include "serve/run_facts.h"

#include "base/json_writer.h"
#include "page/page_numbers.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr size_t kPoints = 24;

}  // namespace

std::vector<PlotPoint> short_course(const std::vector<PlotPoint>& plot) {
  std::vector<PlotPoint> course;
  for (size_t i = 0; i < plot.size(); ++i) {
    const bool begins = i == 0 || i * kPoints / plot.size() != (i - 1) * kPoints / plot.size();
    if (begins) course.push_back(plot[i]);
    if (plot[i].mb > course.back().mb) course.back() = plot[i];
  }
  return course;
}

std::string run_summary_json(const RunFacts& facts, bool with_version) {
  const bool judged = facts.verdict.has_value();
  const Verdict none;
  const Verdict& verdict = judged ? *facts.verdict : none;
  const bool measured = judged && verdict.samples > 0;
  JsonWriter json;
  json.begin_object().members("id", facts.id, "name", facts.name, "live", facts.live);
  // A confidence of 0 means that none can be given.
  json.members("word", value_if(judged, word_name(verdict.word)), "confidence",
               value_if(judged && verdict.confidence > 0, verdict.confidence));
  json.members("headline", judged ? headline_of(verdict) : std::string());
  json.members("last_mb", value_if(measured, verdict.last_mb), "last_x",
               value_if(measured, verdict.last_step));
  json.members("clock", value_if(judged, clock_unit(verdict.clock)));
  json.members("changed_unix_s", facts.changed_unix_s);
  json.members("trouble", value_if(!judged && facts.version > 0, facts.trouble));
  if (with_version) {
    json.members("version", facts.version);
  } else {
    const auto moment = [](const PlotPoint& point) { return Moment(point.step); };
    const auto amount = [](const PlotPoint& point) { return Rounded(point.mb); };
    json.members("course", json_object("x", json_list(facts.course, moment), "mb",
                                       json_list(facts.course, amount)));
  }
  return json.end_object().take();
}

}  // namespace plateau
