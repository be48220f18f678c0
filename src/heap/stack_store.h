// SPDX-License-Identifier: Apache-2.0
// The call stacks, code objects and modules that a traced process has announced, within bounds.
//
// Stacks are forgotten with the sites that need them (keep_only); code objects and modules are few
// and stay, since the tracer announces them once. What does not fit is not taken; a frame whose
// code is unknown is named "?".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heap/record_parser.h"
#include "recording/heap_track.h"

namespace plateau {

class StackStore {
 public:
  static constexpr size_t kMaxStackBytes = size_t{32} * 1024 * 1024;
  static constexpr size_t kMaxCodeBytes = size_t{64} * 1024 * 1024;
  static constexpr size_t kMaxModules = 8192;

  void add(StackNews&& news);
  void add(CodeNews&& news);
  // A range may be used again by another file; each (begin, build id, path) is kept once.
  void add(HeapModule&& module);

  [[nodiscard]] bool knows(uint64_t stack) const { return stacks_.contains(stack); }
  [[nodiscard]] bool full() const { return stack_bytes_ > kMaxStackBytes; }
  [[nodiscard]] size_t stacks() const { return stacks_.size(); }
  [[nodiscard]] size_t memory_bytes() const { return stack_bytes_ + code_bytes_ + module_bytes_; }
  [[nodiscard]] const std::vector<HeapModule>& modules() const { return modules_; }

  // Forgets all other stacks, but for those announced in this round or the one before: what needs
  // them is still to come.
  void keep_only(const std::unordered_set<uint64_t>& needed);
  void end_round() { ++round_; }

  // Puts the stacks of `ids` into the track, in that order, with the codes that they name. An id
  // that is not known, 0 for one, becomes a stack without frames.
  void fill(HeapTrack& track, const std::vector<uint64_t>& ids) const;

 private:
  struct Stored {
    std::vector<uint64_t> native;
    std::vector<trace::PythonFrameWords> python;
    bool truncated = false;
    uint64_t round = 0;
  };
  static size_t size_of(const Stored& stored);

  std::unordered_map<uint64_t, Stored> stacks_;
  std::unordered_map<uint64_t, PythonCode> codes_;
  std::vector<HeapModule> modules_;
  size_t stack_bytes_ = 0;
  size_t code_bytes_ = 0;
  size_t module_bytes_ = 0;
  uint64_t round_ = 0;
};

}  // namespace plateau
