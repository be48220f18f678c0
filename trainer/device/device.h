// SPDX-License-Identifier: Apache-2.0
// Which device tensors are on, and how they get there.
//
// One path for all of them: weights, states and whatever a batch brings are tensors on one device,
// and everything that is done to them is an operation of LibTorch or one of device/kernels.h. The
// host's memory is read in two places only: here, and in the kernels of the CPU.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace plateau::train {

// As device_name.h has it.
Result<at::Device> device_named(const std::string& name);

// Values of the host as a tensor there.
at::Tensor index_tensor(const std::vector<int64_t>& values, at::Device device);

// Its generator: the numbers that dropout draws. LibTorch locks it by itself where it draws.
at::Tensor random_state(at::Device device);
// Throws what LibTorch throws if `state` is not one of such a device.
void set_random_state(at::Device device, const at::Tensor& state);

}  // namespace plateau::train
