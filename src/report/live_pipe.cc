// SPDX-License-Identifier: Apache-2.0
// The live screen for those who cannot see it: one line a tick, or one JSON object a tick.
#include <fmt/format.h>

#include <cmath>

#include "base/json_writer.h"
#include "base/units.h"
#include "report/json.h"
#include "report/live_parts.h"
#include "words/phrases.h"

namespace plateau {
namespace {

// Unknown counts are -1.
std::optional<int64_t> count(int64_t value) {
  return value_if(value >= 0, value);
}

void process(JsonWriter& json, const LiveProcess& each) {
  const std::string_view role = each.role == Role::unknown ? "" : role_name(each.role);
  json.begin_object().members("pid", count(each.pid), "parent", count(each.parent));
  json.members("depth", each.depth, "name", text_or_null(each.name), "role", text_or_null(role));
  json.members("role_reason", text_or_null(each.role_reason), "alive", each.alive);
  json.members("owned_mb", each.owned_mb, "growth_mb", each.growth_mb, "rss_mb", each.rss_mb);
  json.members("pss_mb", each.pss_mb, "uss_mb", each.uss_mb, "file_mb", each.file_mb);
  json.members("shmem_mb", each.shmem_mb, "swap_mb", each.swap_mb, "gpu_mb", each.gpu_mb);
  json.members("cpu_percent", each.cpu_percent, "threads", count(each.threads));
  json.members("fds", count(each.fds)).end_object();
}

void gpu(JsonWriter& json, const LiveGpu& each) {
  json.value(json_object("index", each.index, "name", text_or_null(each.name), "used_mb",
                         each.used_mb, "total_mb", each.total_mb));
}

void event(JsonWriter& json, const LiveEvent& each) {
  json.value(json_object("time_s", each.time_s, "text", each.text));
}

void memory(JsonWriter& json, const LiveState& state) {
  const LiveTotals& totals = state.totals;
  const LiveLimit& limit = state.limit;
  const LiveCgroup& cgroup = state.cgroup;
  json.members("totals",
               json_object("owned_mb", totals.owned_mb, "shared_mb", totals.shared_mb, "file_mb",
                           totals.file_mb, "swap_mb", totals.swap_mb, "gpu_mb", totals.gpu_mb));
  json.members("limit", json_object("mb", limit.mb, "source", text_or_null(limit.source), "used_mb",
                                    limit.used_mb, "seconds_to_limit", limit.seconds_to_limit));
  json.members("system", json_object("available_mb", state.system_available_mb, "total_mb",
                                     state.system_total_mb));
  json.members("cgroup",
               json_object("path", text_or_null(cgroup.path), "usage_mb", cgroup.usage_mb,
                           "limit_mb", cgroup.limit_mb, "oom_kills", count(cgroup.oom_kills)));
  json.members("gpus", json_list(state.gpus, gpu));
}

}  // namespace

std::string live_line(const LiveState& state, const View& view) {
  const LiveState clean = printable_state(state);
  std::vector<std::string> parts = {ink(view, Ink::plain, pad_left(hms(clean.elapsed_s), 8))};
  if (const std::string step = step_phrase(clean); !step.empty()) {
    parts.push_back(pad_right(step, clean.total_steps >= 0 ? 16 : 11));
  }
  parts.push_back("owned " + pad_left(amount(clean.totals.owned_mb), 7));
  if (clean.verdict) {
    const Verdict& verdict = *clean.verdict;
    parts.push_back(pad_left(pace_phrase(verdict), 13));
    parts.push_back(ink(view, word_ink(verdict.word), pad_right(word_upper(verdict.word), 9)) +
                    pad_left(confidence_phrase(verdict.confidence), 9));
    if (verdict.decides_at_step) {
      parts.push_back("open until " + moment_phrase(verdict.clock, *verdict.decides_at_step));
    }
  } else {
    parts.emplace_back("no verdict yet");
  }
  if (std::isfinite(clean.limit.mb)) {
    std::string limit = "limit " + amount(clean.limit.mb);
    if (clean.limit.seconds_to_limit) {
      limit += " in " + format_seconds(*clean.limit.seconds_to_limit);
    }
    parts.push_back(limit);
  }
  if (clean.ended) parts.emplace_back("ended");
  std::string line;
  for (const std::string& part : parts) line += (line.empty() ? "" : "  ") + part;
  return view.utf8 ? line : to_ascii(line);
}

std::string live_json(const LiveState& state) {
  JsonWriter json;
  json.begin_object().members("elapsed_s", state.elapsed_s, "command", text_or_null(state.title));
  json.members("pid", count(state.root_pid), "clock", text_or_null(state.clock_text));
  json.members("ended", state.ended, "step", count(state.step));
  json.members("total_steps", count(state.total_steps), "steps_per_s", state.steps_per_s);
  json.members("epoch", state.epoch);
  memory(json, state);
  json.members("processes", json_list(state.processes, process));
  json.members("cost",
               json_object("watcher_cpu_percent", state.cost.watcher_cpu_percent, "walk_percent",
                           state.cost.walk_percent, "interval_s", state.cost.interval_s));
  json.members("events", json_list(state.events, event), "complaints", state.complaints);
  json.members("recording", text_or_null(state.recording_path)).key("verdict");
  json.embed(state.verdict ? verdict_json(*state.verdict) : "null");
  return json.end_object().take();
}

}  // namespace plateau
