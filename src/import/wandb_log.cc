// SPDX-License-Identifier: Apache-2.0
// What Weights & Biases keeps of a run: run-ID.wandb, a log of records in LevelDB's frame, and, of
// versions before 0.11, wandb-events.jsonl and wandb-history.jsonl.
//
// Two kinds of record matter. `stats` are samples of the machine, with a time: the process's RSS
// ("proc.memory.rssMB", which counts MiB), the devices' bytes ("gpu.0.memoryAllocatedBytes").
// `history` is what the program logs, with a step and a time: its names are the user's, and its
// steps are the clock of the run. "memory", "memory_percent", "gpu.0.memory" and
// "gpu.0.memoryAllocated" among the stats are percentages and are left out.
#include <simdjson.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "import/figure_sources.h"
#include "import/framed_log.h"
#include "import/proto_reader.h"

namespace plateau {
namespace {

// Fields of wandb_internal.Record, HistoryRecord, HistoryStep, StatsRecord and Timestamp.
constexpr uint64_t kRecordHistory = 2;
constexpr uint64_t kRecordStats = 7;
constexpr uint64_t kHistoryItem = 1;
constexpr uint64_t kHistoryStep = 2;
constexpr uint64_t kStepNumber = 1;
constexpr uint64_t kStatsTime = 2;
constexpr uint64_t kStatsItem = 3;
constexpr uint64_t kSeconds = 1;
constexpr uint64_t kNanos = 2;
// HistoryItem and StatsItem.
constexpr uint64_t kItemKey = 1;
constexpr uint64_t kItemNestedKey = 2;
constexpr uint64_t kItemInteger = 5;
constexpr uint64_t kItemNumber = 6;
constexpr uint64_t kItemJson = 16;

struct Item {
  std::string key;
  double value = kMissing;
};

ColumnRole ignored() {
  return {};
}

// What a sample of the machine is called, without "system." before it.
ColumnRole role_of_stat(std::string_view name) {
  ColumnRole role = role_of_figure(name);
  if (role.kind != ColumnRole::Kind::memory) return role;
  // Without a unit in its name it is a percentage.
  if (role.unit_mb == 0) return ignored();
  if (role.unit_mb == 1) role.unit_mb = kWandbMb;
  return role;
}

// What the program logs; names with '_' in front are W&B's own.
ColumnRole role_of_logged(std::string_view name) {
  return name.starts_with('_') ? ignored() : role_of_figure(name);
}

Item read_item(std::string_view bytes) {
  Item item;
  ProtoReader fields(bytes);
  while (fields.next()) {
    switch (fields.number()) {
      case kItemKey:
        item.key = fields.bytes();
        break;
      case kItemNestedKey:
        if (!item.key.empty()) item.key.push_back('.');
        item.key += fields.bytes();
        break;
      case kItemInteger:
        item.value = static_cast<double>(unzigzag(static_cast<uint64_t>(fields.integer())));
        break;
      case kItemNumber:
        item.value = fields.real();
        break;
      case kItemJson:
        item.value = parse_double(fields.bytes()).value_or(kMissing);
        break;
      default:
        break;
    }
  }
  return item;
}

std::string_view without_group(std::string_view name) {
  if (name.starts_with("system.") || name.starts_with("system/")) name.remove_prefix(7);
  return name;
}

// All that one moment says: adds its memory, and its step as the clock.
class WandbMoment {
 public:
  explicit WandbMoment(FigureTable& table) : table_(table) {}

  void begin() {
    items_.clear();
    time_s_ = kMissing;
    step_ = -1;
  }
  void time(double seconds) { time_s_ = seconds; }
  void step(double number) {
    if (number >= 0 && number < 9e15) step_ = static_cast<int64_t>(number);
  }
  void item(std::string_view key, double value) {
    if (key == "_timestamp") time(value);
    if (key == "_step") step(value);
    if (!key.starts_with('_')) items_.push_back({std::string(key), value});
  }
  void end_stats() {
    for (const Item& item : items_) {
      table_.add(table_.figure(item.key, role_of_stat), time_s_, -1, item.value);
    }
  }
  void end_history() {
    table_.clock(time_s_, step_);
    for (const Item& item : items_) {
      table_.add(table_.figure(item.key, role_of_logged), time_s_, step_, item.value);
    }
  }

 private:
  FigureTable& table_;
  std::vector<Item> items_;
  double time_s_ = kMissing;
  int64_t step_ = -1;
};

void read_history(std::string_view bytes, WandbMoment& moment) {
  moment.begin();
  ProtoReader fields(bytes);
  while (fields.next()) {
    if (fields.number() == kHistoryStep) {
      moment.step(0);  // Which is not written.
      ProtoReader step(fields.bytes());
      while (step.next()) {
        if (step.number() == kStepNumber) moment.step(static_cast<double>(step.integer()));
      }
    }
    if (fields.number() != kHistoryItem) continue;
    const Item item = read_item(fields.bytes());
    moment.item(item.key, item.value);
  }
  moment.end_history();
}

double read_time(std::string_view bytes) {
  double seconds = 0;
  ProtoReader fields(bytes);
  while (fields.next()) {
    if (fields.number() == kSeconds) seconds += static_cast<double>(fields.integer());
    if (fields.number() == kNanos) seconds += static_cast<double>(fields.integer()) * 1e-9;
  }
  return seconds;
}

void read_stats(std::string_view bytes, WandbMoment& moment) {
  moment.begin();
  ProtoReader fields(bytes);
  while (fields.next()) {
    if (fields.number() == kStatsTime) moment.time(read_time(fields.bytes()));
    if (fields.number() != kStatsItem) continue;
    const Item item = read_item(fields.bytes());
    moment.item(without_group(item.key), item.value);
  }
  moment.end_stats();
}

}  // namespace

FigureAccount add_wandb_log(LineReader& input, FigureTable& table) {
  LevelDbRecords records(input);
  WandbMoment moment(table);
  std::string_view record;
  while (records.next(record)) {
    ProtoReader fields(record);
    while (fields.next()) {
      if (fields.number() == kRecordHistory) read_history(fields.bytes(), moment);
      if (fields.number() == kRecordStats) read_stats(fields.bytes(), moment);
    }
  }
  return {.records = records.counts().records, .trouble = describe(records.counts())};
}

FigureAccount add_wandb_lines(LineReader& input, FigureTable& table) {
  FigureAccount account;
  WandbMoment moment(table);
  simdjson::dom::parser parser;
  std::string padded;
  std::string_view line;
  size_t bad = 0;
  while (input.next(line)) {
    if (trim(line).empty()) continue;
    ++account.records;
    padded.reserve(line.size() + simdjson::SIMDJSON_PADDING);
    padded.assign(line);
    simdjson::dom::object object;
    if (parser.parse(padded.data(), padded.size(), false).get(object) != simdjson::SUCCESS) {
      ++bad;
      continue;
    }
    moment.begin();
    bool stats = false;
    for (const auto field : object) {
      double value = 0;
      if (field.value.get(value) != simdjson::SUCCESS) continue;
      stats = stats || field.key.starts_with("system.");
      moment.item(without_group(field.key), value);
    }
    if (stats) {
      moment.end_stats();
    } else {
      moment.end_history();
    }
  }
  if (bad > 0) account.trouble = fmt::format("{} of {} lines are no JSON", bad, account.records);
  return account;
}

Result<Runs> read_wandb_log(LineReader& input) {
  FigureTable table;
  return runs_of(table, add_wandb_log(input, table), kWandbLog);
}

}  // namespace plateau
