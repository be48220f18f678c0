// SPDX-License-Identifier: Apache-2.0
// One directory of segments: what one process wanted to send, in order, and how far that has come.
//
// DIRECTORY/lock is locked by whoever appends or sends; the kernel lets go of it when that process
// ends, however it ends. DIRECTORY/cursor says up to where everything was sent: it is written in
// place after each frame, so that after a kill at most the last frame is sent again, which
// receivers take (the same sample at the same time). Nothing is synced: what was appended survives
// the death of this process, and of the machine what the kernel had written by then.
//
// Not synchronised.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/fd.h"
#include "push/spool_format.h"

namespace plateau::push {

class SpoolQueue {
 public:
  static constexpr uint64_t kSegmentBytes = uint64_t{256} << 10;

  // Makes the directory, for its owner alone. Nothing if that fails, with its errno in `error`.
  static std::optional<SpoolQueue> create(const std::string& directory, int& error);
  // One that is there; nothing if somebody else has it, or it is none.
  static std::optional<SpoolQueue> adopt(const std::string& directory);

  // 0, or the errno of what failed; what is there is then as it was. Requires: created, not
  // adopted.
  int append(const Frame& frame);

  struct Oldest {
    Frame frame;
    Cursor at;
    uint64_t next = 0;
  };
  // The first that was not sent; nothing if there is none.
  std::optional<Oldest> oldest();
  // It was sent, or never will be. One that has been dropped meanwhile is left alone.
  void done(const Oldest& frame);
  // Makes room. How many samples are lost by that.
  uint64_t drop_segment();

  [[nodiscard]] uint64_t bytes() const;
  [[nodiscard]] uint64_t waiting_samples() const { return waiting_samples_; }
  [[nodiscard]] uint64_t damaged() const { return damaged_; }  // Segments with bytes that are none.
  [[nodiscard]] const std::string& directory() const { return directory_; }
  // Removes all of it, whatever waits.
  void remove();

 private:
  SpoolQueue() = default;
  static std::optional<SpoolQueue> open(const std::string& directory);
  [[nodiscard]] std::string path_of(uint64_t segment) const;
  bool load(uint64_t segment);
  void next_segment();
  void write_cursor() const;
  int begin_segment();
  int try_append(const Frame& frame);

  std::string directory_;
  Fd lock_;
  Fd cursor_file_;
  Fd appended_;                            // The last segment, if it is appended to.
  std::map<uint64_t, uint64_t> segments_;  // Sizes, by number.
  Cursor cursor_;
  uint64_t loaded_segment_ = UINT64_MAX;
  std::string loaded_;
  uint64_t waiting_samples_ = 0;
  uint64_t damaged_ = 0;
};

}  // namespace plateau::push
