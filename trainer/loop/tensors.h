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

// The tensor's own bytes under `name`. Requires: contiguous, on the CPU; the tensor outlives it.
TensorView view_of(std::string name, const Tensor& tensor);
// A copy.
Result<Tensor> tensor_of(const TensorView& view);
// The bytes of a mapped file themselves, which the tensor keeps open and whose pages it gives back
// at its end; a copy where they are not aligned. Nobody may write to it. Requires: `view` is one of
// `file`.
Result<Tensor> mapped_tensor(const TensorView& view, std::shared_ptr<const SafetensorsFile> file);
// Values into a tensor that exists, unrecorded by autograd. Requires: one shape; `to` is fp32,
// `from` fp32, bf16 or fp16.
void copy_values(const Tensor& to, const TensorView& from);

// Of the one value it has.
double value_of(const Tensor& tensor);
// No value is infinite or NaN.
bool is_finite(const Tensor& tensor);
// Adds the gradients of weight * loss.
Result<std::monostate> add_gradients(const Tensor& loss, double weight);

// Bytes of its gradient; 0 if there is none.
int64_t gradient_bytes(const Tensor& tensor);

// LibTorch's generator on the CPU.
void seed_generator(uint64_t seed);
std::vector<std::byte> generator_state();
Result<std::monostate> set_generator_state(std::span<const std::byte> state);

}  // namespace plateau::train
