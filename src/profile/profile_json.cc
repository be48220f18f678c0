// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"
#include "base/json_writer.h"
#include "profile/profile.h"
#include "words/finding_json.h"
#include "words/site_words.h"

namespace plateau {
namespace {

constexpr int kSchema = 1;

std::string_view kind_name(FrameKind kind) {
  switch (kind) {
    case FrameKind::native:
      return "native";
    case FrameKind::inlined:
      return "inlined";
    case FrameKind::python:
      return "python";
    case FrameKind::interpreter:
      return "interpreter";
  }
  return "";
}

void judged(JsonWriter& json, const SiteVerdict& verdict) {
  json.key("word").value(growth_word_name(verdict.word)).key("confidence");
  if (verdict.confidence == 0) {
    json.null();
  } else {
    json.value(verdict.confidence);
  }
  json.key("growing").value(is_growing(verdict)).key("why").value(site_words(verdict));
  json.key("fact");
  finding_json(json, verdict.why);
}

void rate(JsonWriter& json, const SiteVerdict& verdict, std::string_view unit) {
  const std::string prefix = "rate_" + std::string(unit);
  json.key(prefix + "per_step").value(verdict.rate_mb_per_step);
  json.key("rate_low").value(verdict.rate_range.low);
  json.key("rate_high").value(verdict.rate_range.high);
  json.key("ends_at_step").value(verdict.ends_at_step);
}

void frames(JsonWriter& json, const std::vector<FrameName>& list) {
  json.key("frames").begin_array();
  for (const FrameName& frame : list) {
    json.begin_object().key("kind").value(kind_name(frame.kind)).key("function");
    text_or_null(json, frame.function);
    json.key("file");
    text_or_null(json, frame.file);
    json.key("line");
    if (frame.line > 0) {
      json.value(frame.line);
    } else {
      json.null();
    }
    json.key("module");
    text_or_null(json, frame.module);
    json.end_object();
  }
  json.end_array();
}

void site(JsonWriter& json, const ProfileSite& site) {
  const SiteVerdict& verdict = site.verdict;
  json.begin_object().key("title").value(site.title);
  judged(json, verdict);
  rate(json, verdict, "mb_");
  json.key("mb_per_example").value(verdict.mb_per_example);
  json.key("live_mb").value(verdict.live_mb).key("error_mb").value(verdict.error_mb);
  json.key("growth_mb").value(verdict.growth_mb);
  json.key("from_mb").value(site.from_mb).key("to_mb").value(site.to_mb);
  json.key("blocks").value(verdict.blocks);
  json.key("median_age_steps").value(verdict.median_age_steps);
  json.key("allocated_mb").value(site.allocated_mb).key("freed_mb").value(site.freed_mb);
  json.key("kinds").value(site.kinds).key("stacks").value(site.stacks);
  frames(json, site.frames);
  json.end_object();
}

void totals(JsonWriter& json, const HeapTotals& all) {
  json.key("heap_totals").begin_object();
  json.key("allocated_bytes").value(all.allocated_bytes);
  json.key("allocated_blocks").value(all.allocated_blocks);
  json.key("freed_bytes").value(all.freed_bytes);
  json.key("freed_blocks").value(all.freed_blocks).end_object();
}

void counts(JsonWriter& json, std::string_view key, const std::vector<ProfileCount>& list) {
  json.key(key).begin_array();
  for (const ProfileCount& count : list) {
    const SiteVerdict& verdict = count.verdict;
    json.begin_object().key("name").value(count.name);
    judged(json, verdict);
    rate(json, verdict, "");
    json.key("count").value(verdict.live_mb).key("growth").value(verdict.growth_mb);
    json.key("mb_each");
    if (count.mb_each > 0) {
      json.value(count.mb_each);
    } else {
      json.null();
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string profile_json(const HeapProfile& profile, std::string_view rss) {
  JsonWriter json;
  json.begin_object().key("schema").value(kSchema).key("file").value(profile.file);
  json.key("pid").value(profile.pid).key("process");
  text_or_null(json, profile.process);
  json.key("site");
  const ProfileSite* first = growth_site(profile);
  text_or_null(json, first == nullptr ? "" : first->title);
  json.key("clock").value(clock_unit(profile.clock)).key("steps").begin_object();
  json.key("first").value(profile.from).key("last").value(profile.to).end_object();
  json.key("exact").value(profile.exact);
  json.key("interval_bytes").value(profile.interval_bytes).key("allocator");
  text_or_null(json, profile.allocator);
  json.key("from_mb").value(profile.from_mb).key("to_mb").value(profile.to_mb);
  totals(json, profile.heap_totals);
  json.key("others_mb").value(profile.others_mb).key("sites").begin_array();
  for (const ProfileSite& each : profile.sites) site(json, each);
  json.end_array();
  counts(json, "tensors", profile.tensors);
  counts(json, "types", profile.types);
  json.key("notes").begin_array();
  for (const std::string& note : profile.notes) json.value(note);
  json.end_array().key("rss");
  if (rss.empty()) {
    json.null();
  } else {
    json.embed(rss);
  }
  json.end_object();
  return json.take();
}

}  // namespace plateau
