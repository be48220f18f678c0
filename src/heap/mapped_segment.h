// SPDX-License-Identifier: Apache-2.0
// The segment of one traced process (tracer/segment.h), mapped for reading.
//
// The memory belongs to another process: nothing in it is believed. Where this side has read to is
// kept here and only told to the other; a `written` that cannot be, or a record that cannot be,
// gives up what that lane has published, and counts it. Move-only; one thread.
//
// A segment that was made ahead for any process has a name of its own, which goes with it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "heap/record_parser.h"
#include "tracer/segment.h"

namespace plateau {

class MappedSegment {
 public:
  // Refuses what is not a whole segment of this version, of a regular file of ours, named
  // PID-ANYTHING.segment for the process that its header names.
  static Result<MappedSegment> open(const std::string& path);

  // One without a process, for whoever claims it, with the largest lanes that there is room for, or
  // the smallest. `filters`: on system calls, of this process.
  static Result<MappedSegment> make_spare(const std::string& path, int32_t filters, mode_t mode,
                                          bool small);
  [[nodiscard]] bool small_on_purpose() const { return header_->small != 0; }
  // Empties one whose process is gone. Requires: made by make_spare().
  void become_spare(int32_t filters);
  [[nodiscard]] bool is_made_here() const { return !name_.path.empty(); }
  [[nodiscard]] const std::string& path() const { return name_.path; }
  void moved_to(const std::string& path) { name_.path = path; }
  // True once a process has claimed it; its pid is known from then on.
  bool owned();

  // As they were when the segment was mapped.
  [[nodiscard]] pid_t pid() const { return pid_; }
  // The process has another id here than in its own namespace.
  void is_known_as(pid_t pid) { pid_ = pid; }
  [[nodiscard]] bool exact() const { return exact_; }
  [[nodiscard]] trace::SegmentHeader& header() { return *header_; }
  [[nodiscard]] const trace::SegmentHeader& header() const { return *header_; }

  // What is published and not yet read.
  struct Cut {
    std::array<uint64_t, trace::kLaneCount> to{};
    uint64_t bytes = 0;          // In all lanes.
    uint64_t fullest_bytes = 0;  // Of the fullest lane.
    bool ordered = true;         // Only one lane has anything, and nothing older came elsewhere.
  };
  Cut cut();

  // Hands the records up to `cut` to the sink, lane by lane, and frees their place in the ring.
  template <class Sink>
  void drain(const Cut& cut, Sink& sink) {
    for (size_t lane = 0; lane < trace::kLaneCount; ++lane) drain_lane(lane, cut.to[lane], sink);
  }

  [[nodiscard]] bool whole() const;  // The file was not cut short under us.
  [[nodiscard]] uint64_t lane_bytes() const { return lane_bytes_; }
  [[nodiscard]] uint64_t given_up() const { return given_up_; }      // Times.
  [[nodiscard]] uint64_t lost_bytes() const { return lost_bytes_; }  // By that.

 private:
  MappedSegment() = default;

  // The place in the ring is freed piece by piece, so that the writer need not wait for all.
  static constexpr size_t kPieceWords = 8192;

  [[nodiscard]] std::span<const uint64_t> lane_words(size_t lane) const;
  [[nodiscard]] bool has_news() const;
  void give_up(size_t lane, uint64_t to);

  template <class Sink>
  void drain_lane(size_t lane, uint64_t to, Sink& sink) {
    uint64_t& at = read_[lane];
    while (at < to) {
      const uint64_t place = at % lane_bytes_;
      const uint64_t bytes = std::min(to - at, lane_bytes_ - place);
      const ParseEnd end = parse_records(
          lane_words(lane).subspan(place / sizeof(uint64_t), bytes / sizeof(uint64_t)), kPieceWords,
          sink);
      at += end.words * sizeof(uint64_t);
      if (end.damaged) give_up(lane, to);
      header_->lanes[lane].read.store(at, std::memory_order_release);
    }
  }

  // Removed with its segment.
  struct FileName {
    std::string path;
    FileName() = default;
    FileName(FileName&& other) noexcept : path(std::exchange(other.path, "")) {}
    FileName& operator=(FileName&& other) noexcept {
      std::swap(path, other.path);
      return *this;
    }
    ~FileName();
  };

  static Result<MappedSegment> map(Fd file, const std::string& path, uint64_t lane_bytes);

  struct Unmap {
    size_t bytes;
    void operator()(trace::SegmentHeader* header) const;
  };
  std::unique_ptr<trace::SegmentHeader, Unmap> header_;
  uint64_t lane_bytes_ = trace::kLaneBytes;  // As the size of the file says; the header may change.
  Fd file_;
  FileName name_;
  pid_t pid_ = -1;
  bool exact_ = false;
  std::array<uint64_t, trace::kLaneCount> read_{};
  uint64_t given_up_ = 0;
  uint64_t lost_bytes_ = 0;
};

}  // namespace plateau
