// SPDX-License-Identifier: Apache-2.0
// The kernels of the CPU: spans over the memory of tensors, handed to trainer/quant and adamw.h.
#include <ATen/Parallel.h>

#include <algorithm>
#include <span>
#include <utility>

#include "trainer/device/adamw.h"
#include "trainer/device/kernels.h"

namespace plateau::train {
namespace {

template <typename T>
std::span<T> values_of(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.is_cpu() && tensor.is_contiguous(), "a kernel of the CPU got a tensor on ",
              tensor.device(), ", or with holes");
  return {tensor.data_ptr<T>(), static_cast<size_t>(tensor.numel())};
}

Blockwise8Span span_of(const State8& state) {
  return {values_of<uint8_t>(state.codes), values_of<float>(state.absmax)};
}

class PlainNf4 final : public Nf4Matrix {
 public:
  // Rows of one thread at a time have at least so many values: below it starting one costs more.
  static constexpr int64_t kValuesOfAThread = 65536;

  explicit PlainNf4(Nf4Weight weight) : weight_(std::move(weight)) {}

  [[nodiscard]] int64_t rows() const override { return weight_.shape.at(0); }
  [[nodiscard]] int64_t columns() const override { return weight_.shape.at(1); }
  [[nodiscard]] int64_t bytes() const override { return weight_.bytes(); }
  [[nodiscard]] at::Tensor widen(int64_t first, int64_t last) const override {
    at::Tensor out = at::empty({last - first, columns()}, at::kFloat);
    const std::span<float> values = values_of<float>(out);
    at::parallel_for(first, last, std::max<int64_t>(1, kValuesOfAThread / columns()),
                     [&](int64_t begin, int64_t end) {
                       const auto at = static_cast<size_t>((begin - first) * columns());
                       const auto count = static_cast<size_t>((end - begin) * columns());
                       dequantise_nf4_rows(weight_, begin, end, values.subspan(at, count));
                     });
    return out;
  }

 private:
  Nf4Weight weight_;
};

class PlainKernels final : public Kernels {
 public:
  [[nodiscard]] std::shared_ptr<const Nf4Matrix> hold(Nf4Weight weight,
                                                      at::Device /*device*/) const override {
    return std::make_shared<const PlainNf4>(std::move(weight));
  }
  [[nodiscard]] std::shared_ptr<const Nf4Matrix> quantise(const at::Tensor& wide,
                                                          bool double_quant) const override {
    return std::make_shared<const PlainNf4>(
        quantise_nf4(values_of<float>(wide), wide.sizes().vec(), double_quant));
  }
  void adamw(const at::Tensor& weights, const at::Tensor& gradients, const at::Tensor& first,
             const at::Tensor& second, const Adam8Step& settings) const override {
    adamw_step(values_of<float>(weights), values_of<float>(gradients), values_of<float>(first),
               values_of<float>(second), settings);
  }
  void adamw_8bit(const at::Tensor& weights, const at::Tensor& gradients, const State8& first,
                  const State8& second, const Adam8Step& settings) const override {
    adamw_8bit_step(values_of<float>(weights), values_of<float>(gradients), span_of(first),
                    span_of(second), settings);
  }
  [[nodiscard]] double sum_of_squares(const std::vector<at::Tensor>& tensors) const override {
    double sum = 0;
    for (const at::Tensor& tensor : tensors) sum += train::sum_of_squares(values_of<float>(tensor));
    return sum;
  }
};

}  // namespace

const Kernels& plain_kernels() {
  static const PlainKernels kernels;
  return kernels;
}

const Kernels& kernels_for(at::Device device) {
  return device.is_cpu() ? plain_kernels() : tensor_kernels();
}

}  // namespace plateau::train
