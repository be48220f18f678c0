// SPDX-License-Identifier: Apache-2.0
// The life of the keeper process, from fork to end.
#pragma once

#include <sys/types.h>

#include <string>

namespace plateau {

struct KeeperDuty {
  int socket = -1;  // The only descriptor that it keeps.
  pid_t owner = -1;
  std::string directory;
  bool exact = false;
  bool others_join = false;  // Processes of other users may be part of the job.
};

// Runs in the child and does not return: until the owner closes its end or is gone. Removes the
// directory at the end.
[[noreturn]] void keep_heaps(const KeeperDuty& duty);

// Removes the segments in it, and the directory itself if nothing else is in it.
void remove_segment_directory(const std::string& directory);

// How long to sleep until the rings are looked at again. The aim is to find them an eighth full;
// when nothing comes the sleep doubles up to a bound, which is short where every block is recorded:
// a burst fills a ring within milliseconds.
class KeeperPace {
 public:
  explicit KeeperPace(bool exact) : longest_ms_(exact ? 4 : 250) {}
  // Something is about to come.
  void hurry() { sleep_ms_ = 0.5; }
  double next_ms(double fill);  // `fill` of the fullest lane, 0 to 1.

 private:
  double longest_ms_;
  double sleep_ms_ = 1;
};

}  // namespace plateau
