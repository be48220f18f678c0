// SPDX-License-Identifier: Apache-2.0
// What grows in one process: fed with the records of its segment, answers with a HeapTrack.
//
// Bounded whatever the process does: the working sites, their stacks, the rows. Only the table of
// live blocks grows with the process, 32 bytes a slot. A sink for parse_records(). One thread.
//
//   profile.begin_round(ordered); segment.drain(cut, profile); profile.end_round();
//   profile.row({.time_s = 12.5, .step = 40});
//   HeapTrack track = profile.track();
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heap/live_blocks.h"
#include "heap/mapping_table.h"
#include "heap/record_parser.h"
#include "heap/site_table.h"
#include "heap/stack_store.h"
#include "heap/step_marks.h"
#include "recording/heap_track.h"

namespace plateau {

class GrowthProfile {
 public:
  static constexpr size_t kMaxRowCells = 4096;  // Live sites of a row; smaller ones are others.

  // `marks` outlives the profile. `now` of the clock of stamps is needed only without steps, to
  // tell ages in seconds.
  explicit GrowthProfile(const StepMarks* marks, double ticks_per_s = 1e9)
      : marks_(marks), ticks_per_s_(ticks_per_s) {}

  void ticks_per_second(double ticks) { ticks_per_s_ = ticks; }

  // A round reads everything that was published when it began. `ordered`: events of this round
  // come in the order in which they happened to each address.
  void begin_round(bool ordered);
  void end_round();

  void expect(uint64_t address) const { live_.prefetch(address); }
  void alloc(const trace::AllocRecord& record);
  void free(const trace::FreeRecord& record);
  void unmap(const trace::UnmapRecord& record);
  void stack(StackNews&& news) { store_.add(std::move(news)); }
  void code(CodeNews&& news) { store_.add(std::move(news)); }
  void module(HeapModule&& module) { store_.add(std::move(module)); }

  // A moment to write down, and what the allocator says of it; cells and others are filled in.
  void row(HeapRow row);

  // Everything but what only the segment knows (pid, mode, drops, allocator). `now_stamp` is for
  // the age of what is alive.
  HeapTrack track(uint64_t now_stamp);

  [[nodiscard]] size_t rows() const { return rows_.size() + (newest_ ? 1 : 0); }
  [[nodiscard]] double live_bytes() const;
  [[nodiscard]] double peak_bytes() const { return peak_bytes_; }
  [[nodiscard]] uint64_t refused() const { return refused_; }  // The table of blocks was full.
  [[nodiscard]] uint64_t events() const { return events_; }
  [[nodiscard]] size_t memory_bytes() const;

 private:
  void notice_steps();
  uint32_t site_of(uint64_t stack, HeapKind kind, int32_t step);
  uint32_t new_site(uint64_t stack, HeapKind kind, int32_t step);
  [[nodiscard]] int64_t age(uint64_t born, int32_t born_step, uint64_t died) const;
  void count_alloc(uint32_t site, uint64_t bytes, unsigned note);
  // `share` of the block's bytes go.
  void count_free(uint32_t site, uint64_t whole, double share, unsigned note, int64_t age);
  void end_block(const LiveBlock& block, uint64_t died);
  MappingTable::Gone gone_at(uint64_t stamp);
  void map(const trace::AllocRecord& record, uint32_t site, int32_t step);
  void fold();
  void fill(HeapRow& row);
  [[nodiscard]] std::vector<uint32_t> shown_sites() const;
  void live_ages(HeapTrack& track, const std::vector<uint32_t>& places, uint64_t now_stamp);

  const StepMarks* marks_;
  double ticks_per_s_;
  bool steps_seen_ = false;
  LiveBlocks live_;
  MappingTable mappings_;
  SiteTable sites_;
  StackStore store_;
  std::vector<HeapRow> rows_;      // Sites are numbers in sites_.
  std::optional<HeapRow> newest_;  // The last row, if it is between those that are kept.
  uint64_t rows_seen_ = 0;
  uint32_t stride_ = 1;
  HeapTotals heap_totals_;
  double peak_bytes_ = 0;
  uint64_t refused_ = 0;
  uint64_t events_ = 0;
};

}  // namespace plateau
