// SPDX-License-Identifier: Apache-2.0
// A device by its name, for those who compile without a torch header.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/result.h"

namespace plateau::train {

struct DeviceName {
  bool is_cuda = false;
  int64_t index = 0;  // Of the GPU.
};
// "cpu", "cuda" (the first) or "cuda:N"; the error is for any other text. Whether the device is
// there is not asked: a plan is made for another machine.
Result<DeviceName> device_name_of(const std::string& text);

// Whether tensors can be on the device of that name. The error is one line that says what is
// missing: LibTorch was built without CUDA, or there is no such GPU.
Result<std::monostate> check_device(const std::string& name);

}  // namespace plateau::train
