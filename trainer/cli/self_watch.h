// SPDX-License-Identifier: Apache-2.0
// The trainer watches itself: its resident memory, step by step, judged as any other run.
//
// Bounded: beyond kMaxSamples every second sample is dropped and from then on only every second
// step is kept, so that watching does not itself grow.
#pragma once

#include <cstdint>
#include <string>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau::train {

class SelfWatch {
 public:
  static constexpr size_t kMaxSamples = 2048;

  // What is known before step 1.
  void began(int64_t total_steps, double examples, double batch, double epoch_steps);
  void stepped(int64_t step, double epoch, int64_t resident_bytes);
  void marked(EventKind kind);

  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] int64_t last_resident_bytes() const { return last_resident_bytes_; }
  [[nodiscard]] const Run& run() const { return run_; }

 private:
  void thin();

  Run run_;
  int64_t stride_ = 1;  // Steps between samples that are kept.
  double start_s_ = 0;
  int64_t last_resident_bytes_ = 0;
};

// Resident memory of this process now and at its peak, in bytes; 0 if /proc cannot be read.
struct OwnMemory {
  int64_t resident_bytes = 0;
  int64_t peak_bytes = 0;
};
OwnMemory own_memory();

}  // namespace plateau::train
