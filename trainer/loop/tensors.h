// SPDX-License-Identifier: Apache-2.0
// The few things that the loop does with tensors, behind a door without torch headers: this file
// is compiled once with them, everything else of the room quickly.
//
// What LibTorch throws becomes an Error here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/model/learner.h"
#include "trainer/store/safetensors.h"

namespace plateau::train {

// The same tensor if it is on the CPU, else a copy there.
Tensor on_host(const Tensor& tensor);
// The tensor's own bytes under `name`; of one on another device, none. Requires: contiguous; the
// tensor outlives it.
TensorView view_of(std::string name, const Tensor& tensor);
// A copy.
Result<Tensor> tensor_of(const TensorView& view);
// The bytes of a mapped file themselves, which the tensor keeps open and whose pages it gives back
// at its end; a copy where they are not aligned. Nobody may write to it. Requires: `view` is one of
// `file`.
Result<Tensor> mapped_tensor(const TensorView& view, std::shared_ptr<const SafetensorsFile> file);
// Values into a tensor that exists, on any device, unrecorded by autograd. Requires: one shape;
// `to` is fp32, `from` fp32, bf16 or fp16.
void copy_values(const Tensor& to, const TensorView& from);

// Of the one value it has.
double value_of(const Tensor& tensor);
// No value is infinite or NaN.
bool is_finite(const Tensor& tensor);
// Adds the gradients of weight * loss.
Result<std::monostate> add_gradients(const Tensor& loss, double weight);

int64_t bytes_of(const Tensor& tensor);
// Of its gradient; 0 if there is none.
int64_t gradient_bytes(const Tensor& tensor);

// LibTorch's generators, of all devices.
void seed_generator(uint64_t seed);
// That of the device that `beside` is on.
std::vector<std::byte> generator_state(const Tensor& beside);
Result<std::monostate> set_generator_state(const Tensor& beside, std::span<const std::byte> state);

}  // namespace plateau::train
