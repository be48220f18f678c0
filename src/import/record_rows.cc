// SPDX-License-Identifier: Apache-2.0
#include "import/record_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "base/units.h"

namespace plateau {
namespace {

using Kind = ColumnRole::Kind;

constexpr double kMaxStep = 9e15;              // Whole numbers are exact in a double up to here.
constexpr int64_t kDeviceIds = 1'000'000'000;  // Where pseudo-processes for devices are numbered.

bool is_missing(std::string_view value) {
  static constexpr std::array<std::string_view, 9> kWords = {
      "", "nan", "null", "none", "n/a", "[n/a]", "na", "-", "[not supported]"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [value](std::string_view word) { return equal_ignoring_case(word, value); });
}

// The first number in a key: 1 for "gpu.1.memory".
int64_t number_in(std::string_view name) {
  for (size_t at = 0; at < name.size(); ++at) {
    if (!is_digit(name[at])) continue;
    size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    return parse_int(name.substr(at, std::min<size_t>(end - at, 6))).value_or(0);
  }
  return 0;
}

}  // namespace

EventKind event_kind_of(std::string_view text) {
  WordBits bits = 0;
  for (size_t at = 0; at < text.size();) {
    if (!is_letter(text[at])) {
      ++at;
      continue;
    }
    const size_t end = word_end(text, at);
    bits |= word_bits(text.substr(at, end - at));
    at = end;
  }
  if ((bits & kWordEval) != 0) return EventKind::eval;
  if ((bits & kWordSave) != 0) return EventKind::checkpoint;
  if ((bits & kWordOom) != 0) return EventKind::oom;
  if ((bits & kWordRestart) != 0) return EventKind::restart;
  if ((bits & kWordEpoch) != 0) return EventKind::epoch;
  return EventKind::mark;
}

size_t RecordRows::add_role(ColumnRole role, std::string_view name) {
  Key key{std::move(role), 0};
  if (key.role.kind == Kind::memory) {
    const bool on_device =
        key.role.metric == Metric::gpu || key.role.metric == Metric::gpu_reserved;
    if (on_device) key.device = number_in(name);
    const auto rival = [&key](const Key& other) {
      return other.role.kind == Kind::memory && other.role.metric == key.role.metric &&
             other.device == key.device;
    };
    if (std::any_of(keys_.begin(), keys_.end(), rival)) {
      builder_.note(fmt::format("'{}' was left out: another column counts the same", name));
      key.role.kind = Kind::ignored;
    } else {
      ++memory_keys_;
    }
  }
  keys_.push_back(std::move(key));
  return keys_.size() - 1;
}

void RecordRows::begin(size_t line) {
  line_ = line;
  at_ = {};
  step_rank_ = time_rank_ = process_rank_ = 0;
  process_id_ = 0;
  is_pid_ = false;
  parent_ = -1;
  label_.clear();
  name_.clear();
  event_.clear();
  run_.clear();
  memory_.clear();
  gauges_.clear();
  facts_.clear();
}

void RecordRows::stamp(const ColumnRole& role, const Stamp& stamp) {
  if (role.rank <= time_rank_) return;
  time_rank_ = role.rank;
  stamp_ = stamp;
}

void RecordRows::set_process(int64_t id, bool is_pid, int rank) {
  if (rank <= process_rank_) return;
  process_rank_ = rank;
  process_id_ = id;
  is_pid_ = is_pid;
  label_.clear();
}

// `unit_mb` 0 means that neither the key nor the value says; it is then guessed once per key.
void RecordRows::put_memory(size_t key, double value, double unit_mb) {
  ColumnRole& role = keys_[key].role;
  if (unit_mb == 0) {
    if (role.unit_mb == 0) {
      if (value <= 0) return;
      role.unit_mb = guess_unit_mb(value);
      builder_.note(
          fmt::format("'{}' has no unit: read as {}", role.label, guessed_unit_name(role.unit_mb)));
    }
    unit_mb = role.unit_mb;
  }
  memory_.push_back({key, value * unit_mb});
}

void RecordRows::number(size_t key, double value) {
  const ColumnRole& role = keys_[key].role;
  if (std::isnan(value)) return;
  const bool whole = value >= 0 && value <= kMaxStep;
  switch (role.kind) {
    case Kind::step:
      if (!whole) {
        builder_.bad(line_, fmt::format("impossible step {:.6g}", value));
      } else if (role.rank > step_rank_) {
        step_rank_ = role.rank;
        at_.step = static_cast<int64_t>(value);
      }
      break;
    case Kind::time:
      if (!std::isfinite(value)) break;
      if (const auto seconds = epoch_seconds(value)) {
        stamp(role, {Stamp::Kind::epoch, *seconds, 0});
      } else {
        stamp(role, {Stamp::Kind::elapsed, value * role.time_scale, 0});
      }
      break;
    case Kind::epoch:
      if (std::isfinite(value) && value >= 0) at_.epoch = value;
      break;
    case Kind::process:
    case Kind::pid:
      if (whole) set_process(static_cast<int64_t>(value), role.kind == Kind::pid, role.rank);
      break;
    case Kind::parent:
      if (whole) parent_ = static_cast<int64_t>(value);
      break;
    case Kind::memory:
      put_memory(key, value, role.unit_mb);
      break;
    case Kind::gauge:
      gauges_.push_back({key, value});
      break;
    case Kind::fact:
      facts_.push_back({key, role.fact == &Context::limit_mb ? value * role.unit_mb : value});
      break;
    case Kind::run:
      run_ = fmt::format("{}", value);
      break;
    default:
      break;
  }
}

void RecordRows::text(size_t key, std::string_view value) {
  const ColumnRole& role = keys_[key].role;
  switch (role.kind) {
    case Kind::ignored:
      return;
    case Kind::name:
      name_ = value.substr(0, 200);
      return;
    case Kind::event:
      event_ = value.substr(0, 1000);
      return;
    case Kind::run:
      run_ = value.substr(0, 200);
      return;
    default:
      break;
  }
  if (const auto parsed = parse_double(value)) {
    number(key, *parsed);
    return;
  }
  if (is_missing(value)) return;
  if (role.kind == Kind::time) {
    if (const auto parsed = parse_date_line(value)) {
      stamp(role, *parsed);
      return;
    }
  } else if (role.kind == Kind::memory) {
    if (const auto mb = parse_memory_mb(value)) {
      put_memory(key, *mb, 1.0);
      return;
    }
  } else if (role.kind == Kind::process || role.kind == Kind::pid) {
    label_ = value.substr(0, 200);
    return;
  }
  builder_.bad(line_, fmt::format("cannot read '{}' in column {}", value.substr(0, 60),
                                  role.label.substr(0, 60)));
}

size_t RecordRows::process_by_label(std::string_view label) {
  const auto id = static_cast<int64_t>(labels_.size());
  const auto [found, fresh] = labels_.emplace(std::string(label), id);
  const size_t process = builder_.process(found->second, false);
  if (fresh) builder_.describe(process, label, -1);
  if (labels_.size() > RunBuilder::kMaxProcesses) labels_.erase(found);
  return process;
}

size_t RecordRows::find_process() {
  if (!label_.empty()) return process_by_label(label_);
  if (process_rank_ == 0 && !name_.empty()) return process_by_label(name_);
  return builder_.process(process_id_, is_pid_);
}

size_t RecordRows::column_for(size_t process, size_t key) {
  const Key& about = keys_[key];
  if (about.device > 0) {
    const size_t device = builder_.process(kDeviceIds + about.device, false);
    builder_.describe(device, fmt::format("GPU {}", about.device), -1);
    process = device;
  }
  if (process == RunBuilder::kNone) return RunBuilder::kNone;
  if (columns_.size() <= process) columns_.resize(process + 1);
  std::vector<size_t>& cached = columns_[process];
  if (cached.size() <= key) cached.resize(keys_.size(), 0);
  if (cached[key] == 0) {
    const size_t column =
        about.role.kind == Kind::gauge
            ? builder_.gauge_column(process, about.role.label)
            : builder_.memory_column(process, about.role.metric, about.role.label);
    if (column == RunBuilder::kNone) return column;
    cached[key] = column + 1;
  }
  return cached[key] - 1;
}

// "eval", or several with their words: "eval:Validation starts;checkpoint".
void RecordRows::add_events() {
  std::string_view rest = event_;
  while (!rest.empty()) {
    const std::string_view one = trim(rest.substr(0, rest.find(';')));
    rest.remove_prefix(std::min(rest.size(), rest.find(';')));
    if (!rest.empty()) rest.remove_prefix(1);
    if (is_missing(one)) continue;
    const size_t colon = one.find(':');
    const auto kind = event_from_name(one.substr(0, colon));
    if (kind) {
      builder_.event(*kind, colon == std::string_view::npos ? one : one.substr(colon + 1));
    } else {
      builder_.event(event_kind_of(one), one);
    }
  }
}

void RecordRows::end() {
  if (any_record_ && run_ != last_run_) builder_.new_run(false);
  if (run_ != last_run_) last_run_ = run_;
  any_record_ = true;
  for (const Value& fact : facts_) {
    const ColumnRole& role = keys_[fact.key].role;
    builder_.fact(role.fact, fact.value, role.label);
  }
  if (memory_.empty() && gauges_.empty() && event_.empty()) return;
  if (time_rank_ > 0) at_.time_s = builder_.time_of(stamp_);
  builder_.row(at_, line_);
  const size_t process = find_process();
  builder_.describe(process, name_, parent_);
  for (const Value& value : memory_) builder_.set_mb(column_for(process, value.key), value.value);
  for (const Value& value : gauges_) {
    builder_.set_gauge(column_for(process, value.key), value.value);
  }
  add_events();
}

}  // namespace plateau
