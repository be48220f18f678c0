// SPDX-License-Identifier: Apache-2.0
// Rows of named values (CSV records, JSON objects) into a RunBuilder.
//
// The reader announces each key once, then gives the values of a record; what a key means is
// classify_column()'s business. Of several steps or times in one record the best-ranked is used. A
// process comes from a pid, an index, a label or, failing those, a name. Device memory under a
// numbered key ("gpu.1.memory") beyond device 0 becomes a process "GPU 1" of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/column_role.h"
#include "import/run_builder.h"
#include "import/timestamp.h"

namespace plateau {

class RecordRows {
 public:
  explicit RecordRows(RunBuilder& builder) : builder_(builder) {}

  // Announces a key and returns its number. A second key for the same figure is ignored.
  size_t add_key(std::string_view name) { return add_role(classify_column(name), name); }
  size_t add_role(ColumnRole role, std::string_view name);
  [[nodiscard]] const ColumnRole& role(size_t key) const { return keys_[key].role; }
  [[nodiscard]] bool has_memory() const { return memory_keys_ > 0; }

  // One record: begin, values in any order, end.
  void begin(size_t line);
  void number(size_t key, double value);
  // A number, an amount with its unit, a time or a name; "", "nan", "null", "N/A" are missing.
  void text(size_t key, std::string_view value);
  void end();

 private:
  struct Key {
    ColumnRole role;
    int64_t device = 0;
  };
  struct Value {
    size_t key;
    double value;
  };

  void stamp(const ColumnRole& role, const Stamp& stamp);
  void put_memory(size_t key, double value, double unit_mb);
  void set_process(int64_t id, bool is_pid, int rank);
  void add_events();
  size_t column_for(size_t process, size_t key);
  size_t process_by_label(std::string_view label);
  size_t find_process();

  RunBuilder& builder_;
  std::vector<Key> keys_;
  size_t memory_keys_ = 0;
  std::vector<std::vector<size_t>> columns_;  // [process][key] -> builder column + 1; 0 = not yet.
  std::unordered_map<std::string, int64_t> labels_;
  std::string last_run_;
  bool any_record_ = false;

  // The record being read.
  size_t line_ = 0;
  Instant at_;
  int step_rank_ = 0;
  int time_rank_ = 0;
  int process_rank_ = 0;
  Stamp stamp_;
  int64_t process_id_ = 0;
  bool is_pid_ = false;
  int64_t parent_ = -1;
  std::string label_;
  std::string name_;
  std::string event_;
  std::string run_;
  std::vector<Value> memory_;
  std::vector<Value> gauges_;
  std::vector<Value> facts_;
};

// The kind of event that a free text means: "eval", "Validation starts", "checkpoint saved".
EventKind event_kind_of(std::string_view text);

}  // namespace plateau
