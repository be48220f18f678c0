// SPDX-License-Identifier: Apache-2.0
// What waits to be sent to one address: on disk, bounded, first in first out.
//
// Each process that pushes has a queue of its own (spool_queue.h) in the directory of the address.
// Queues whose owners have ended are taken over by whoever comes next, the oldest first, so that an
// outage may outlast the job. If all of it together passes `most_bytes`, the oldest segment goes,
// and is counted. Queues of others who still run are not counted: the directory may hold
// `most_bytes` for each of them.
//
// A disk that is full costs nothing yet: frames wait in memory, at most kMemoryBytes of them, are
// sent from there, and go to the disk when it takes them.
//
// Not synchronised.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "push/spool_queue.h"

namespace plateau::push {

class Spool {
 public:
  static constexpr uint64_t kMemoryBytes = uint64_t{4} << 20;

  // `directory` is made if it is not there; it must be ours, and nobody else may write to it. A
  // full disk is no failure.
  static Result<Spool> open(const std::string& directory, uint64_t most_bytes);

  void append(Frame frame);

  struct Pending {
    Frame frame;
    std::optional<SpoolQueue::Oldest> on_disk;  // Else in memory.
    std::string queue;
  };
  // The oldest that was not sent. It is lent until done() or keep().
  std::optional<Pending> oldest();
  void done(const Pending& pending);
  void keep() { lent_ = false; }

  // Takes over what others have left since.
  void adopt();

  [[nodiscard]] uint64_t waiting_samples() const;
  [[nodiscard]] uint64_t bytes() const;  // On disk.
  [[nodiscard]] uint64_t dropped_samples() const { return dropped_; }
  [[nodiscard]] uint64_t damaged_segments() const;
  [[nodiscard]] int disk_error() const {
    return disk_error_;
  }  // errno of the last append; 0: none.
  [[nodiscard]] const std::string& directory() const { return directory_; }
  // Nobody appends any more: what waits in memory goes to the disk, or is lost and counted.
  void settle();
  // Removes what is empty. To be called once, after settle().
  void close();

 private:
  Spool() = default;
  bool begin_own();
  bool to_disk(const Frame& frame);
  void keep_bounds();

  std::string directory_;
  uint64_t most_bytes_ = 0;
  std::vector<SpoolQueue> left_;  // Of others, the oldest first.
  std::optional<SpoolQueue> own_;
  std::deque<Frame> memory_;
  uint64_t memory_bytes_ = 0;
  bool lent_ = false;  // The oldest of memory_ is being sent.
  uint64_t dropped_ = 0;
  uint64_t damaged_ = 0;  // In queues that are gone.
  int disk_error_ = 0;
};

// A name for the directory of an address: its host, and a hash of all of it and of the tenant.
std::string spool_name(const std::string& url, const std::string& tenant);

}  // namespace plateau::push
