// SPDX-License-Identifier: Apache-2.0
// Signals as something to read, so that the loop handles them between other things and never in
// the middle of one.
//
// While a SignalReader lives, the given signals are blocked in this process and wait in its
// descriptor. A child must unblock them before exec (job.cc does). One per process.
#pragma once

#include <signal.h>

#include <initializer_list>
#include <vector>

#include "base/fd.h"

namespace plateau {

class SignalReader {
 public:
  explicit SignalReader(std::initializer_list<int> signals);
  ~SignalReader();
  SignalReader(const SignalReader&) = delete;
  SignalReader& operator=(const SignalReader&) = delete;

  [[nodiscard]] int fd() const { return fd_.get(); }
  // Those that came since the last call, in order; equal ones may have been merged by the kernel.
  std::vector<int> read_all();

 private:
  Fd fd_;
  sigset_t before_ = {};
};

}  // namespace plateau
