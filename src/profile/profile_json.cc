// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"
#include "profile/profile.h"
#include "words/finding_json.h"
#include "words/site_words.h"

namespace plateau {
namespace {

constexpr int kSchema = 1;

std::string_view kind_name(FrameKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"native", "inlined", "python", "interpreter"};
  return kNames[static_cast<size_t>(kind)];
}

void judged(JsonWriter& json, const SiteVerdict& verdict) {
  json.members("word", growth_word_name(verdict.word), "confidence",
               value_if(verdict.confidence != 0, verdict.confidence), "growing",
               is_growing(verdict), "why", site_words(verdict));
  json.members("fact", [&](JsonWriter& fact) { finding_json(fact, verdict.why); });
}

void rate(JsonWriter& json, const SiteVerdict& verdict, const char* key) {
  json.members(key, verdict.rate_mb_per_step, "rate_low", verdict.rate_range.low, "rate_high",
               verdict.rate_range.high, "ends_at_step", verdict.ends_at_step);
}

void frame(JsonWriter& json, const FrameName& name) {
  json.value(json_object("kind", kind_name(name.kind), "function", text_or_null(name.function),
                         "file", text_or_null(name.file), "line",
                         value_if(name.line > 0, name.line), "module", text_or_null(name.module)));
}

void site(JsonWriter& json, const ProfileSite& site) {
  const SiteVerdict& verdict = site.verdict;
  json.begin_object().members("title", site.title);
  judged(json, verdict);
  rate(json, verdict, "rate_mb_per_step");
  json.members("mb_per_example", verdict.mb_per_example, "live_mb", verdict.live_mb);
  json.members("error_mb", verdict.error_mb, "growth_mb", verdict.growth_mb);
  json.members("from_mb", site.from_mb, "to_mb", site.to_mb, "blocks", verdict.blocks);
  json.members("median_age_steps", verdict.median_age_steps, "allocated_mb", site.allocated_mb);
  json.members("freed_mb", site.freed_mb, "kinds", site.kinds, "stacks", site.stacks);
  json.members("frames", json_list(site.frames, frame)).end_object();
}

void count(JsonWriter& json, const ProfileCount& count) {
  const SiteVerdict& verdict = count.verdict;
  json.begin_object().members("name", count.name);
  judged(json, verdict);
  rate(json, verdict, "rate_per_step");
  json.members("count", verdict.live_mb, "growth", verdict.growth_mb);
  json.members("mb_each", value_if(count.mb_each > 0, count.mb_each)).end_object();
}

}  // namespace

std::string profile_json(const HeapProfile& profile, std::string_view rss) {
  const ProfileSite* first = growth_site(profile);
  const HeapTotals& all = profile.heap_totals;
  JsonWriter json;
  json.begin_object().members("schema", kSchema, "file", profile.file, "pid", profile.pid);
  json.members("process", text_or_null(profile.process));
  json.members("site", text_or_null(first == nullptr ? "" : first->title));
  json.members("clock", clock_unit(profile.clock));
  json.members("steps", json_object("first", profile.from, "last", profile.to));
  json.members("exact", profile.exact, "interval_bytes", profile.interval_bytes);
  json.members("dropped_allocs", profile.dropped_allocs, "dropped_frees", profile.dropped_frees);
  json.members("errs", text_or_null(loss_direction(profile.dropped_allocs, profile.dropped_frees)));
  json.members("allocator", text_or_null(profile.allocator));
  json.members("from_mb", profile.from_mb, "to_mb", profile.to_mb);
  json.members("heap_totals", json_object("allocated_bytes", all.allocated_bytes,
                                          "allocated_blocks", all.allocated_blocks, "freed_bytes",
                                          all.freed_bytes, "freed_blocks", all.freed_blocks));
  json.members("others_mb", profile.others_mb, "sites", json_list(profile.sites, site));
  json.members("tensors", json_list(profile.tensors, count));
  json.members("types", json_list(profile.types, count), "notes", profile.notes);
  return json.key("rss").embed(rss.empty() ? "null" : rss).end_object().take();
}

}  // namespace plateau
