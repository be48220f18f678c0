// SPDX-License-Identifier: Apache-2.0
// The processes of a run as a tree: who is whose child, what each held and how much it grew.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/units.h"
#include "page/page_numbers.h"
#include "page/page_run.h"
#include "report/text.h"

namespace plateau {
namespace {

// Workers that come and go with every epoch are thousands after a day.
constexpr size_t kMostProcesses = 300;

struct Lifetime {
  std::optional<size_t> first;  // Instants, in the order of the run.
  std::optional<size_t> last;
  double peak_mb = kMissing;
};

Lifetime lifetime_of(const std::vector<double>& mb) {
  Lifetime life;
  for (size_t i = 0; i < mb.size(); ++i) {
    if (!std::isfinite(mb[i])) continue;
    if (!life.first) life.first = i;
    life.last = i;
    if (!(mb[i] <= life.peak_mb)) life.peak_mb = mb[i];
  }
  return life;
}

// By id, as the log names processes.
std::unordered_map<int64_t, size_t> index_by_id(const Run& run) {
  std::unordered_map<int64_t, size_t> index;
  for (size_t p = 0; p < run.processes.size(); ++p) index.emplace(run.processes[p].id, p);
  return index;
}

// The parent's index, unless the log makes a process its own ancestor.
std::optional<size_t> parent_of(const Run& run, const std::unordered_map<int64_t, size_t>& index,
                                size_t p) {
  const auto up = [&](size_t of) -> std::optional<size_t> {
    const auto parent = index.find(run.processes[of].parent);
    if (run.processes[of].parent == -1 || parent == index.end()) return std::nullopt;
    return parent->second;
  };
  const std::optional<size_t> parent = up(p);
  std::optional<size_t> at = parent;
  for (size_t steps = 0; at && *at != p && steps < run.processes.size(); ++steps) at = up(*at);
  return at && *at == p ? std::nullopt : parent;
}

const ProcessGrowth* growth_of(const Verdict& verdict, const Process& process) {
  for (const ProcessGrowth& growth : verdict.processes) {
    if (growth.id == process.id && growth.id_is_pid == process.id_is_pid) return &growth;
  }
  return nullptr;
}

void write_amounts(JsonWriter& json, const PageRun& page, size_t p) {
  const std::vector<double>& mb = page.columns->owned_of_process()[p];
  const Lifetime life = lifetime_of(mb);
  const auto moment = [&](const std::optional<size_t>& instant) {
    return instant ? page.signals.clock_of_instant[*instant] : kMissing;
  };
  json.members("first_x", Moment(moment(life.first)), "last_x", Moment(moment(life.last)));
  // Of the instants that count, unless it lived only before or after them.
  const std::vector<TimedValue>& counted = page.signals.owned_of_process[p];
  double first_mb = life.first ? mb[*life.first] : kMissing;
  double last_mb = life.last ? mb[*life.last] : kMissing;
  if (!counted.empty()) {
    first_mb = counted.front().mb;
    last_mb = counted.back().mb;
  }
  json.members("first_mb", Rounded(first_mb), "last_mb", Rounded(last_mb));
  json.members("peak_mb", Rounded(life.peak_mb), "growth_mb", Rounded(last_mb - first_mb));
  const ProcessGrowth* growth = growth_of(page.answer->verdict, page.run->processes[p]);
  json.members("share", Rounded(growth != nullptr ? growth->share : kMissing));
}

}  // namespace

void choose_processes(PageRun& page) {
  const Run& run = *page.run;
  const size_t count = run.processes.size();
  std::vector<bool> chosen(count, count <= kMostProcesses);
  if (count > kMostProcesses) {
    std::vector<std::pair<double, size_t>> by_weight;
    std::unordered_map<int64_t, double> growth;
    for (const ProcessGrowth& each : page.answer->verdict.processes)
      growth[each.id] = each.growth_mb;
    for (size_t p = 0; p < count; ++p) {
      const double peak = lifetime_of(page.columns->owned_of_process()[p]).peak_mb;
      const auto grew = growth.find(run.processes[p].id);
      const double weight = (std::isfinite(peak) ? peak : 0) +
                            10 * std::max(0.0, grew == growth.end() ? 0 : grew->second);
      by_weight.emplace_back(-weight, p);
    }
    std::sort(by_weight.begin(), by_weight.end());
    const std::unordered_map<int64_t, size_t> index = index_by_id(run);
    for (size_t i = 0; i < kMostProcesses; ++i) {
      for (size_t p = by_weight[i].second; !chosen[p];) {
        chosen[p] = true;
        const auto parent = index.find(run.processes[p].parent);
        if (parent == index.end()) break;
        p = parent->second;
      }
    }
    const auto shown = std::count(chosen.begin(), chosen.end(), true);
    page.left_out.push_back(
        fmt::format("{} of {} processes are listed: those that grew or held "
                    "most",
                    shown, format_count(static_cast<int64_t>(count))));
  }
  page.place.assign(count, std::nullopt);
  for (size_t p = 0; p < count; ++p) {
    if (!chosen[p]) continue;
    page.place[p] = page.shown.size();
    page.shown.push_back(p);
  }
}

void write_processes(JsonWriter& json, const PageRun& page) {
  const Run& run = *page.run;
  const std::unordered_map<int64_t, size_t> index = index_by_id(run);
  json.key("processes").begin_array();
  for (const size_t p : page.shown) {
    const Process& process = run.processes[p];
    const std::optional<size_t> parent = parent_of(run, index, p);
    const std::string_view role = process.role == Role::unknown ? "" : role_name(process.role);
    json.begin_object().members("id", process.id, "is_pid", process.id_is_pid);
    json.members("parent", parent ? page.place[*parent] : std::nullopt);
    json.members("name", printable(process.name), "role", harmless(role));
    json.members("role_reason", harmless(process.role_reason));
    write_amounts(json, page, p);
    json.end_object();
  }
  json.end_array();
}

}  // namespace plateau
