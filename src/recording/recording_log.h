// SPDX-License-Identifier: Apache-2.0
// The table in memory that a recording's writer fills and its reader rebuilds.
//
// Rows are held as the bytes that stand in the file: a day of 21 processes takes 3 MB instead of
// 40, and writing the file anew is copying. They are read from front to back, which is how every
// user wants them.
//
// Whatever changes the log comes as a record through one of the put functions, on both sides; they
// return "" or why the record does not fit, and then nothing has changed. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "recording/record_codec.h"
#include "recording/row_codec.h"
#include "recording/run.h"

namespace plateau {

class RecordingLog {
 public:
  static constexpr size_t kLeastRows = 8;
  static constexpr size_t kMostRows = size_t{1} << 16;
  static constexpr size_t kMaxProcesses = size_t{1} << 16;
  static constexpr size_t kMaxNotes = 1000;
  static constexpr size_t kMaxHeaps = 64;                        // Processes with a track.
  static constexpr size_t kMaxHeapBytes = size_t{8} << 20;       // Of one encoded track.
  static constexpr size_t kMaxRunHeapBytes = size_t{128} << 20;  // Of all that to_run() decodes.
  static constexpr size_t kMaxRunProcesses = 128;                // That to_run() shows singly.
  static constexpr size_t kMaxRunCells = size_t{32} << 20;       // Of its table.

  explicit RecordingLog(const HeadRecord& head);

  std::string put_process(const ProcessRecord& record);
  std::string put_column(const RecordedColumn& column);
  std::string put_fact(const FactRecord& record);
  std::string put_note(std::string_view text);
  std::string put_event(const EventRecord& record);
  std::string put_events_lost(uint64_t count);
  std::string put_row(RecordType type, std::string_view payload);
  std::string put_ending(const Ending& ending);
  // Takes the place of the pid's track before it. Whether it can be decoded shows in to_run().
  std::string put_heap(const HeapRecord& record);
  // Takes the place of what was put before.
  std::string put_holders(const HolderGrowth& growth);
  // What a reader could not use; becomes a note of the Run, not of the file.
  void put_damage(std::string text) { damage_ = std::move(text); }

  // Merges old rows once there are too many; true if it did. See recording_merge.cc.
  bool merge_if_full();

  [[nodiscard]] const HeadRecord& head() const { return head_; }
  [[nodiscard]] const std::vector<ProcessRecord>& processes() const { return processes_; }
  [[nodiscard]] bool has_id(int64_t id) const { return ids_.count(id) > 0; }
  [[nodiscard]] const std::vector<RecordedColumn>& columns() const { return columns_; }
  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const std::vector<EventRecord>& events() const { return events_; }
  [[nodiscard]] uint64_t events_lost() const { return events_lost_; }
  // The latest track of every pid, the one that was put last at the end.
  struct StoredHeap {
    int64_t pid = 0;
    uint64_t number = 0;
    std::string track;
  };
  [[nodiscard]] const std::vector<StoredHeap>& heaps() const { return heaps_; }
  [[nodiscard]] const Ending& ending() const { return ending_; }
  [[nodiscard]] const std::string& damage() const { return damage_; }
  [[nodiscard]] size_t rows() const { return rows_.size(); }
  [[nodiscard]] uint64_t samples() const { return samples_; }  // Ever put, merged or not.
  [[nodiscard]] const Sample& last() const { return last_; }   // An empty one at the start.

  // Every row, oldest first, with the means in SampleSpan::sums (see mean_of).
  void each_row(const std::function<void(const SampleSpan&)>& visit) const;

  // The whole file.
  [[nodiscard]] std::string bytes() const;

  // Both samples of every row in order of time. Of very many processes the short-lived ones are
  // added up by role, so that the table stays within bounds while its sums are the same. Source and
  // format are left to the caller.
  [[nodiscard]] Run to_run(bool with_heaps = true) const;

 private:
  class Table;
  struct Row {
    std::string payload;
    uint64_t count = 1;
  };

  bool decode(const Row& row, const Sample& before, uint64_t serial, SampleSpan& span) const;
  [[nodiscard]] size_t rows_after_merge(uint64_t stride, size_t old) const;
  void merge_old(size_t old);
  void fill_events(Run& run, const std::vector<uint64_t>& serials) const;
  void fill_heaps(Run& run) const;

  HeadRecord head_;
  std::vector<ProcessRecord> processes_;
  std::unordered_set<int64_t> ids_;
  std::vector<RecordedColumn> columns_;
  Context context_;
  std::vector<std::string> notes_;
  std::vector<EventRecord> events_;
  uint64_t events_lost_ = 0;
  std::vector<Row> rows_;
  uint64_t samples_ = 0;
  Sample last_;
  std::vector<StoredHeap> heaps_;
  std::optional<HolderGrowth> holders_;
  Ending ending_;
  bool ended_ = false;
  std::string damage_;
};

}  // namespace plateau
