// SPDX-License-Identifier: Apache-2.0
#include "import/figure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "base/thinning.h"
#include "import/record_rows.h"

namespace plateau {
namespace {

constexpr size_t kNamedOthers = 8;
constexpr size_t kMaxNameLength = 200;

constexpr std::string_view kProcessWords = "rank, worker, node";
constexpr std::string_view kSeparators = " _-:.=#/";

}  // namespace

ProcessInName process_in_name(std::string_view name) {
  for (size_t at = 0; at < name.size();) {
    if (!is_letter(name[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    std::string word;
    while (end < name.size() && is_letter(name[end])) word.push_back(ascii_lower(name[end++]));
    const size_t digits =
        std::min(name.find_first_not_of(kSeparators.substr(0, 7), end), name.size());
    size_t after = digits;
    while (after < name.size() && is_digit(name[after])) ++after;
    if (after > digits && after - digits < 7 && lists(kProcessWords, ", ", word)) {
      std::string rest(name.substr(0, at));
      rest += name.substr(std::min(name.find_first_not_of(kSeparators, after), name.size()));
      return {fmt::format("{} {}", word, name.substr(digits, after - digits)), rest};
    }
    at = end;
  }
  return {};
}

size_t FigureTable::announce(std::string_view name, const ColumnRole& role) {
  if (figure_of_.size() >= kMaxNames) return kNotMemory;
  size_t number = kNotMemory;
  if (role.kind == ColumnRole::Kind::memory) {
    number = figures_.size();
    const ProcessInName process = process_in_name(name.substr(0, kMaxNameLength));
    figures_.push_back(
        {process.label.empty() ? std::string(name.substr(0, kMaxNameLength)) : process.rest, role,
         process.label.empty() ? 0 : process_number(process.label)});
  } else {
    ++other_count_;
    if (others_.size() < kNamedOthers) others_.emplace_back(name.substr(0, 60));
  }
  figure_of_.emplace(name, number);
  return number;
}

uint32_t FigureTable::process_number(std::string_view label) {
  const auto known = std::find(processes_.begin(), processes_.end(), label);
  const auto number = static_cast<uint32_t>(known - processes_.begin());
  if (known == processes_.end()) processes_.emplace_back(label);
  return number;
}

void FigureTable::process(std::string_view label) {
  process_ = process_number(label);
}

void FigureTable::add(size_t figure, double time_s, int64_t step, double value) {
  if (figure == kNotMemory || std::isnan(value)) return;
  if (std::isinf(time_s)) time_s = kMissing;
  if (step < 0 && std::isnan(time_s)) return;
  ++figures_[figure].points;
  span_from_s_ = std::fmin(span_from_s_, time_s);
  span_to_s_ = std::fmax(span_to_s_, time_s);
  const uint32_t named = figures_[figure].process;
  const uint32_t process = named != 0 ? named : process_;
  points_.push_back({time_s, step, value, static_cast<uint32_t>(figure), process});
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

bool FigureTable::has_several_processes() const {
  return std::any_of(points_.begin(), points_.end(), [this](const Point& point) {
    return point.process != points_.front().process;
  });
}

void FigureTable::take_clock_of_largest() {
  const auto largest =
      std::max_element(figures_.begin(), figures_.end(),
                       [](const Figure& a, const Figure& b) { return a.points < b.points; });
  const auto lead = static_cast<uint32_t>(largest - figures_.begin());
  const auto of_lead = [lead](const Point& point) { return point.figure == lead; };
  const auto first = std::find_if(points_.begin(), points_.end(), of_lead);
  for (const Point& point : points_) {
    if (of_lead(point) && point.process == first->process) clock(point.time_s, point.step);
  }
}

void FigureTable::sort_by_time() {
  const bool timed = std::none_of(points_.begin(), points_.end(),
                                  [](const Point& point) { return std::isnan(point.time_s); });
  if (!timed) return;
  std::stable_sort(points_.begin(), points_.end(),
                   [](const Point& a, const Point& b) { return a.time_s < b.time_s; });
}

// Several processes that count the same steps reach them at different times: then the step puts
// them in order. False, and nothing done, where the steps of one go back.
bool FigureTable::sort_by_step_of_each() {
  std::vector<int64_t> last(processes_.size(), 0);
  for (const Point& point : points_) {
    if (point.step < last[point.process]) return false;
    last[point.process] = point.step;
  }
  std::stable_sort(points_.begin(), points_.end(),
                   [](const Point& a, const Point& b) { return a.step < b.step; });
  return true;
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
  const bool several = has_several_processes();
  sort_by_time();
  if (!several || !sort_by_step_of_each()) {
    if (ticks_.empty() && !points_.empty()) take_clock_of_largest();
    place_in_steps();
  }
  const bool with_steps = steps_tell_apart();
  RecordRows rows(builder);
  const size_t step_key = rows.add_key("step");
  const size_t time_key = rows.add_key("t_s");
  const size_t process_key = rows.add_key("process");
  const std::vector<size_t> keys = announce_keys(rows);
  if (thinned_) builder.note("very long: only some of the samples were kept");
  for (size_t i = 0; i < points_.size(); ++i) {
    const Point& point = points_[i];
    rows.begin(i + 1);
    if (with_steps) rows.number(step_key, static_cast<double>(point.step));
    rows.number(time_key, point.time_s);
    if (several) rows.text(process_key, point.process == 0 ? "job" : processes_[point.process]);
    rows.number(keys[point.figure], point.value);
    rows.end();
  }
  points_ = {};
  ticks_ = {};
}

// The figures as keys of `rows`, the longest first; those of several processes share one.
std::vector<size_t> FigureTable::announce_keys(RecordRows& rows) const {
  std::vector<size_t> order(figures_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [this](size_t a, size_t b) { return figures_[a].points > figures_[b].points; });
  std::vector<size_t> keys(figures_.size());
  std::unordered_map<std::string_view, size_t> key_of;
  for (const size_t i : order) {
    const auto [known, fresh] = key_of.try_emplace(figures_[i].name, 0);
    if (fresh) known->second = rows.add_role(figures_[i].role, figures_[i].name);
    keys[i] = known->second;
  }
  return keys;
}

}  // namespace plateau
