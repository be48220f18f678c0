// SPDX-License-Identifier: Apache-2.0
#include "recording/tidy_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/printable.h"
#include "recording/facts.h"

namespace plateau {
namespace {

constexpr size_t kPiece = 64u << 10;

// Which columns the runs together need.
struct Layout {
  bool runs = false;
  bool time = false;
  bool step = false;
  bool epoch = false;
  bool events = false;
  bool pids = true;
  bool names = false;
  bool parents = false;
  std::set<Metric> metrics;
  std::set<std::string> gauges;
  std::vector<FactKind> facts;
};

Layout layout_of(std::span<const Run> runs) {
  Layout layout;
  layout.runs = runs.size() > 1;
  for (const Run& run : runs) {
    for (const Instant& at : run.instants) {
      layout.time |= std::isfinite(at.time_s);
      layout.step |= at.step >= 0;
      layout.epoch |= std::isfinite(at.epoch);
    }
    layout.events |= !run.events.empty();
    for (const Process& process : run.processes) {
      layout.pids &= process.id_is_pid;
      layout.names |= !process.name.empty();
      layout.parents |= process.parent >= 0;
    }
    for (const Series& series : run.series) layout.metrics.insert(series.metric);
    for (const Gauge& gauge : run.gauges) layout.gauges.insert(gauge.name);
  }
  for (const FactKind& fact : kFacts) {
    const auto known = [&fact](const Run& run) { return (run.context.*fact.field).has_value(); };
    // A table of numbers: names of jobs and nodes stay in the recording.
    if (!fact.is_name() && std::any_of(runs.begin(), runs.end(), known)) {
      layout.facts.push_back(fact);
    }
  }
  return layout;
}

// Some spreadsheets take the full-width signs of East Asian keyboards for the plain ones.
bool begins_a_formula(std::string_view text) {
  constexpr auto kSigns =
      std::to_array<std::string_view>({"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"});
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [text](std::string_view sign) { return text.starts_with(sign); });
}

// A field that a reader gives back unchanged, unless it would do something to whoever opens the
// table: control characters and line ends go (base/printable.h), and what a spreadsheet would take
// for a formula gets an apostrophe in front.
std::string field(std::string_view text) {
  std::string clean = printable(text);
  if (begins_a_formula(clean)) clean.insert(clean.begin(), '\'');
  const bool plain = clean.find_first_of(",\"#") == std::string::npos &&
                     (clean.empty() || (clean.front() != ' ' && clean.back() != ' '));
  if (plain) return clean;
  std::string quoted = "\"";
  for (const char c : clean) {
    if (c == '"') quoted.push_back('"');
    quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string header_of(const Layout& layout) {
  std::vector<std::string> names;
  if (layout.runs) names.emplace_back("run");
  if (layout.time) names.emplace_back("t_s");
  if (layout.step) names.emplace_back("step");
  if (layout.epoch) names.emplace_back("epoch");
  if (layout.events) names.emplace_back("event");
  names.emplace_back(layout.pids ? "pid" : "proc");
  if (layout.names) names.emplace_back("name");
  if (layout.parents) names.emplace_back("parent");
  for (const Metric metric : layout.metrics)
    names.push_back(fmt::format("{}_mb", metric_name(metric)));
  for (const std::string& gauge : layout.gauges) {
    names.push_back(gauge == "threads" ? gauge : field("gauge." + gauge));
  }
  for (const FactKind& fact : layout.facts) names.push_back(fmt::format("context.{}", fact.key));
  return fmt::format("{}\n", fmt::join(names, ","));
}

// The columns of one run, ordered for writing.
class RunWriter {
 public:
  RunWriter(const Run& run, size_t number, const Layout& layout)
      : run_(run), number_(number), layout_(layout), events_(run.instants.size()) {
    series_.resize(run.processes.size());
    gauges_.resize(run.processes.size());
    for (const Series& series : run.series) series_[series.process].emplace(series.metric, &series);
    for (const Gauge& gauge : run.gauges) gauges_[gauge.process].emplace(gauge.name, &gauge);
    for (const Event& event : run.events) add_event(event);
  }

  // All rows of one instant.
  void write(size_t instant, std::string& out) const {
    bool first = true;
    for (size_t process = 0; process < run_.processes.size(); ++process) {
      if (!has_value(process, instant)) continue;
      write_row(instant, process, first, out);
      first = false;
    }
  }

 private:
  void add_event(const Event& event) {
    std::string& text = events_[event.instant];
    if (!text.empty()) text.push_back(';');
    text += event_name(event.kind);
    if (event.text.empty() || event.text == event_name(event.kind)) return;
    std::string clean = event.text;
    std::replace(clean.begin(), clean.end(), ';', ',');
    text += ":" + clean;
  }

  [[nodiscard]] bool has_value(size_t process, size_t instant) const {
    for (const auto& [metric, series] : series_[process]) {
      if (std::isfinite(series->mb[instant])) return true;
    }
    return std::any_of(
        gauges_[process].begin(), gauges_[process].end(),
        [instant](const auto& one) { return std::isfinite(one.second->value[instant]); });
  }

  void write_row(size_t instant, size_t process, bool first, std::string& out) const {
    const Instant& at = run_.instants[instant];
    const Process& who = run_.processes[process];
    if (layout_.runs) out += fmt::format("{},", number_);
    if (layout_.time) out += number(at.time_s) + ",";
    if (layout_.step) out += at.step >= 0 ? fmt::format("{},", at.step) : std::string(",");
    if (layout_.epoch) out += number(at.epoch) + ",";
    if (layout_.events) out += (first ? field(events_[instant]) : std::string()) + ",";
    out += fmt::format("{}", who.id);
    if (layout_.names) out += "," + field(who.name);
    if (layout_.parents) out += who.parent >= 0 ? fmt::format(",{}", who.parent) : std::string(",");
    for (const Metric metric : layout_.metrics) {
      const auto found = series_[process].find(metric);
      out.push_back(',');
      if (found != series_[process].end()) out += number(found->second->mb[instant]);
    }
    for (const std::string& name : layout_.gauges) {
      const auto found = gauges_[process].find(name);
      out.push_back(',');
      if (found != gauges_[process].end()) out += number(found->second->value[instant]);
    }
    for (const FactKind& kind : layout_.facts) {
      const std::optional<Fact>& fact = run_.context.*kind.field;
      out += "," + (fact ? number(fact->value) : std::string());
    }
    out.push_back('\n');
  }

  const Run& run_;
  size_t number_;
  const Layout& layout_;
  std::vector<std::map<Metric, const Series*>> series_;
  std::vector<std::map<std::string, const Gauge*>> gauges_;
  std::vector<std::string> events_;
};

}  // namespace

void write_tidy_csv(std::span<const Run> runs, const std::function<void(std::string_view)>& sink) {
  const Layout layout = layout_of(runs);
  std::string piece = header_of(layout);
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunWriter writer(runs[i], i + 1, layout);
    for (size_t instant = 0; instant < runs[i].instants.size(); ++instant) {
      writer.write(instant, piece);
      if (piece.size() < kPiece) continue;
      sink(piece);
      piece.clear();
    }
  }
  if (!piece.empty()) sink(piece);
}

std::string tidy_csv(std::span<const Run> runs) {
  std::string all;
  write_tidy_csv(runs, [&all](std::string_view piece) { all += piece; });
  return all;
}

}  // namespace plateau
