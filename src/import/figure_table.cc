// SPDX-License-Identifier: Apache-2.0
#include "import/figure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/thinning.h"
#include "import/record_rows.h"

namespace plateau {
namespace {

constexpr size_t kNamedOthers = 8;
constexpr size_t kMaxNameLength = 200;

}  // namespace

size_t FigureTable::announce(std::string_view name, const ColumnRole& role) {
  if (figure_of_.size() >= kMaxNames) return kNotMemory;
  size_t number = kNotMemory;
  if (role.kind == ColumnRole::Kind::memory) {
    number = figures_.size();
    figures_.push_back({std::string(name.substr(0, kMaxNameLength)), role});
  } else {
    ++other_count_;
    if (others_.size() < kNamedOthers) others_.emplace_back(name.substr(0, 60));
  }
  figure_of_.emplace(name, number);
  return number;
}

void FigureTable::process(std::string_view label) {
  const auto known = std::find(processes_.begin(), processes_.end(), label);
  process_ = static_cast<uint32_t>(known - processes_.begin());
  if (known == processes_.end()) processes_.emplace_back(label);
}

void FigureTable::add(size_t figure, double time_s, int64_t step, double value) {
  if (figure == kNotMemory || std::isnan(value)) return;
  if (std::isinf(time_s)) time_s = kMissing;
  if (step < 0 && std::isnan(time_s)) return;
  if (processes_.empty()) process("");
  ++figures_[figure].points;
  span_from_s_ = std::fmin(span_from_s_, time_s);
  span_to_s_ = std::fmax(span_to_s_, time_s);
  points_.push_back({time_s, step, value, static_cast<uint32_t>(figure), process_});
  if (points_.size() >= kMaxPoints) thin_out();
}

void FigureTable::clock(double time_s, int64_t step) {
  if (!std::isfinite(time_s) || step < 0) return;
  if (++ticks_skipped_ < tick_stride_) return;
  ticks_skipped_ = 0;
  ticks_.push_back({time_s, step});
  if (ticks_.size() < kMaxPoints) return;
  keep_every_second(ticks_);
  tick_stride_ *= 2;
}

// Drops every second point of each figure.
void FigureTable::thin_out() {
  thinned_ = true;
  std::erase_if(points_, [this](const Point& point) {
    Figure& figure = figures_[point.figure];
    figure.odd = !figure.odd;
    return !figure.odd;
  });
}

std::string FigureTable::other_names() const {
  if (others_.empty()) return "";
  std::string text = fmt::format("'{}'", fmt::join(others_, "', '"));
  if (other_count_ > others_.size()) {
    text += fmt::format(" and {} more", other_count_ - others_.size());
  }
  return text;
}

void FigureTable::take_clock_of_largest() {
  const auto largest =
      std::max_element(figures_.begin(), figures_.end(),
                       [](const Figure& a, const Figure& b) { return a.points < b.points; });
  const auto lead = static_cast<uint32_t>(largest - figures_.begin());
  for (const Point& point : points_) {
    if (point.figure == lead) clock(point.time_s, point.step);
  }
}

// By time. Where several processes count the same steps, by step: their clocks are not the same.
void FigureTable::sort_points() {
  const auto by_time = [](const Point& a, const Point& b) { return a.time_s < b.time_s; };
  const bool timed = std::none_of(points_.begin(), points_.end(),
                                  [](const Point& point) { return std::isnan(point.time_s); });
  if (timed) std::stable_sort(points_.begin(), points_.end(), by_time);
  if (processes_.size() < 2) return;
  std::vector<int64_t> last(processes_.size(), -1);
  for (const Point& point : points_) {
    if (point.step < last[point.process]) return;
    last[point.process] = point.step;
  }
  std::stable_sort(points_.begin(), points_.end(),
                   [](const Point& a, const Point& b) { return a.step < b.step; });
}

// Gives every point the step that its moment has on the clock; see the header.
void FigureTable::place_in_steps() {
  std::stable_sort(ticks_.begin(), ticks_.end(),
                   [](const Tick& a, const Tick& b) { return a.time_s < b.time_s; });
  if (ticks_.empty()) return;
  size_t next = 0;  // The first tick after the point.
  for (Point& point : points_) {
    if (std::isnan(point.time_s)) continue;
    while (next < ticks_.size() && ticks_[next].time_s <= point.time_s) ++next;
    const int64_t before = ticks_[next == 0 ? 0 : next - 1].step;
    const int64_t after = next < ticks_.size() ? ticks_[next].step : before;
    const bool fits = point.step >= before && point.step <= std::max(before, after);
    if (!fits) point.step = before;
  }
}

// Whether at least half of the moments have a step that the one before them does not have.
bool FigureTable::steps_tell_apart() const {
  size_t moments = 0;
  size_t steps = 0;
  for (size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].step < 0) return false;
    const bool first = i == 0;
    const bool new_step = first || points_[i].step != points_[i - 1].step;
    // Figures of one step are logged one after the other: their times differ, their moment does
    // not. Only the same figure again is a new one.
    const bool again = first || points_[i].figure == points_[0].figure;
    if (new_step || (again && points_[i].process == points_[0].process)) ++moments;
    if (new_step) ++steps;
  }
  return steps * 2 >= moments && steps > 1;
}

void FigureTable::write(RunBuilder& builder) {
  const bool several = processes_.size() > 1;
  if (ticks_.empty() && !several && !figures_.empty()) take_clock_of_largest();
  sort_points();
  if (!several) place_in_steps();
  const bool with_steps = steps_tell_apart();
  RecordRows rows(builder);
  const size_t step_key = rows.add_key("step");
  const size_t time_key = rows.add_key("t_s");
  const size_t process_key = rows.add_key("process");
  std::vector<size_t> order(figures_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [this](size_t a, size_t b) { return figures_[a].points > figures_[b].points; });
  std::vector<size_t> keys(figures_.size());
  for (const size_t i : order) keys[i] = rows.add_role(figures_[i].role, figures_[i].name);
  if (thinned_) builder.note("very long: only some of the samples were kept");
  for (size_t i = 0; i < points_.size(); ++i) {
    const Point& point = points_[i];
    rows.begin(i + 1);
    if (with_steps) rows.number(step_key, static_cast<double>(point.step));
    rows.number(time_key, point.time_s);
    if (several) rows.text(process_key, processes_[point.process]);
    rows.number(keys[point.figure], point.value);
    rows.end();
  }
  points_ = {};
  ticks_ = {};
}

}  // namespace plateau
