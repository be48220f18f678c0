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
void count(JsonWriter& json, std::string_view key, int64_t value) {
  json.key(key);
  if (value < 0) {
    json.null();
  } else {
    json.value(value);
  }
}

void text(JsonWriter& json, std::string_view key, const std::string& value) {
  json.key(key);
  if (value.empty()) {
    json.null();
  } else {
    json.value(value);
  }
}

void process(JsonWriter& json, const LiveProcess& each) {
  json.begin_object();
  count(json, "pid", each.pid);
  count(json, "parent", each.parent);
  json.key("depth").value(each.depth);
  text(json, "name", each.name);
  text(json, "role", each.role == Role::unknown ? "" : std::string(role_name(each.role)));
  text(json, "role_reason", each.role_reason);
  json.key("alive").value(each.alive);
  json.key("owned_mb").value(each.owned_mb).key("growth_mb").value(each.growth_mb);
  json.key("rss_mb").value(each.rss_mb).key("pss_mb").value(each.pss_mb);
  json.key("uss_mb").value(each.uss_mb).key("file_mb").value(each.file_mb);
  json.key("shmem_mb").value(each.shmem_mb).key("swap_mb").value(each.swap_mb);
  json.key("gpu_mb").value(each.gpu_mb).key("cpu_percent").value(each.cpu_percent);
  count(json, "threads", each.threads);
  count(json, "fds", each.fds);
  json.end_object();
}

void memory(JsonWriter& json, const LiveState& state) {
  const LiveTotals& totals = state.totals;
  json.key("totals").begin_object().key("owned_mb").value(totals.owned_mb);
  json.key("shared_mb").value(totals.shared_mb).key("file_mb").value(totals.file_mb);
  json.key("swap_mb").value(totals.swap_mb).key("gpu_mb").value(totals.gpu_mb).end_object();
  json.key("limit").begin_object().key("mb").value(state.limit.mb);
  text(json, "source", state.limit.source);
  json.key("used_mb").value(state.limit.used_mb);
  json.key("seconds_to_limit").value(state.limit.seconds_to_limit).end_object();
  json.key("system").begin_object().key("available_mb").value(state.system_available_mb);
  json.key("total_mb").value(state.system_total_mb).end_object();
  json.key("cgroup").begin_object();
  text(json, "path", state.cgroup.path);
  json.key("usage_mb").value(state.cgroup.usage_mb).key("limit_mb").value(state.cgroup.limit_mb);
  count(json, "oom_kills", state.cgroup.oom_kills);
  json.end_object().key("gpus").begin_array();
  for (const LiveGpu& gpu : state.gpus) {
    json.begin_object().key("index").value(gpu.index);
    text(json, "name", gpu.name);
    json.key("used_mb").value(gpu.used_mb).key("total_mb").value(gpu.total_mb).end_object();
  }
  json.end_array();
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
      parts.push_back("decides at " + moment_phrase(verdict.clock, *verdict.decides_at_step));
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
  json.begin_object().key("elapsed_s").value(state.elapsed_s);
  text(json, "command", state.title);
  count(json, "pid", state.root_pid);
  text(json, "clock", state.clock_text);
  json.key("ended").value(state.ended);
  count(json, "step", state.step);
  count(json, "total_steps", state.total_steps);
  json.key("steps_per_s").value(state.steps_per_s).key("epoch").value(state.epoch);
  memory(json, state);
  json.key("processes").begin_array();
  for (const LiveProcess& each : state.processes) process(json, each);
  json.end_array().key("cost").begin_object();
  json.key("watcher_cpu_percent").value(state.cost.watcher_cpu_percent);
  json.key("walk_percent").value(state.cost.walk_percent);
  json.key("interval_s").value(state.cost.interval_s).end_object();
  json.key("events").begin_array();
  for (const LiveEvent& event : state.events) {
    json.begin_object().key("time_s").value(event.time_s);
    json.key("text").value(event.text).end_object();
  }
  json.end_array().key("complaints").begin_array();
  for (const std::string& complaint : state.complaints) json.value(complaint);
  json.end_array();
  text(json, "recording", state.recording_path);
  json.key("verdict");
  if (state.verdict) {
    json.embed(verdict_json(*state.verdict));
  } else {
    json.null();
  }
  return json.end_object().take();
}

}  // namespace plateau
