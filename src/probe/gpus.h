// SPDX-License-Identifier: Apache-2.0
// Device memory, as NVIDIA's management library tells it.
//
// The library is loaded when the program runs, so nothing is needed to build and nothing is said
// where it is missing. Its types are declared here by hand, from its published interface.
// No GPU stood behind any test of this file: the tests load a stand-in library.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/hidden.h"
#include "probe/snapshot.h"

namespace plateau {

class Gpus {
 public:
  // Does not fail: without the library, or without devices, there are no GPUs.
  explicit Gpus(const std::string& library);

  struct Use {
    pid_t pid = 0;
    int64_t kb = 0;
  };

  [[nodiscard]] bool present() const;
  // Asks all devices. A device that does not answer keeps kUnread.
  void read();
  [[nodiscard]] const std::vector<GpuSample>& devices() const { return devices_; }
  // What `pid` holds on all devices; kUnread if no device lists it.
  [[nodiscard]] int64_t used_by_kb(pid_t pid) const;

 private:
  struct Library;
  Hidden<Library> library_;
  std::vector<GpuSample> devices_;
  std::vector<Use> uses_;
};

}  // namespace plateau
