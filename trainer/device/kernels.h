// SPDX-License-Identifier: Apache-2.0
// What a step does to weights and states that LibTorch has no operation for: NF4 and AdamW with 32
// and 8 bits.
//
// There are two of each. `plain` works on the host's memory, one pass over it, by trainer/quant and
// adamw.h: what the CPU runs. `tensor` is made of LibTorch's operations alone and runs wherever
// those do. Both give the same bits, but for a sum of squares, whose order differs; tests hold them
// to that. Who computes asks kernels_for() and does not know which it got.
//
// All tensors of a call are on one device and contiguous.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/quant/blockwise8.h"
#include "trainer/quant/nf4.h"

namespace plateau::train {

// A frozen matrix in four bits, on a device. Never changes.
class Nf4Matrix {
 public:
  virtual ~Nf4Matrix() = default;
  Nf4Matrix() = default;
  Nf4Matrix(const Nf4Matrix&) = delete;
  Nf4Matrix& operator=(const Nf4Matrix&) = delete;

  [[nodiscard]] virtual int64_t rows() const = 0;
  [[nodiscard]] virtual int64_t columns() const = 0;
  [[nodiscard]] virtual int64_t bytes() const = 0;
  // Rows [first, last) as fp32.
  [[nodiscard]] virtual at::Tensor widen(int64_t first, int64_t last) const = 0;
};

// A state in 8 bits: a code for each value (bytes, of the weight's shape) and a scale for each
// kStateBlock of them (fp32).
struct State8 {
  at::Tensor codes;
  at::Tensor absmax;
};

class Kernels {
 public:
  virtual ~Kernels() = default;
  Kernels() = default;
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  // What a file holds in NF4.
  [[nodiscard]] virtual std::shared_ptr<const Nf4Matrix> hold(Nf4Weight weight,
                                                              at::Device device) const = 0;
  // Requires: two dimensions, fp32.
  [[nodiscard]] virtual std::shared_ptr<const Nf4Matrix> quantise(const at::Tensor& wide,
                                                                  bool double_quant) const = 0;
  // adamw.h and quant/blockwise8.h say what is computed. All but the states in 8 bits fp32.
  virtual void adamw(const at::Tensor& weights, const at::Tensor& gradients,
                     const at::Tensor& first, const at::Tensor& second,
                     const Adam8Step& settings) const = 0;
  virtual void adamw_8bit(const at::Tensor& weights, const at::Tensor& gradients,
                          const State8& first, const State8& second,
                          const Adam8Step& settings) const = 0;
  // In double, over all of them. Waits for the device once.
  [[nodiscard]] virtual double sum_of_squares(const std::vector<at::Tensor>& tensors) const = 0;
};

const Kernels& plain_kernels();
const Kernels& tensor_kernels();
// plain_kernels() for the CPU, tensor_kernels() for any other.
const Kernels& kernels_for(at::Device device);

}  // namespace plateau::train
