// SPDX-License-Identifier: Apache-2.0
// The kernels as operations of LibTorch, for any device that has those.
//
// Equal to the kernels of the CPU to the bit, which rests on three things. Each arithmetic
// operation of theirs is one operation here, rounded once: no `alpha`, no addcmul, which multiply
// and add without rounding in between. The nearest code is what theirs is: how many middles a
// number exceeds, which bucketize() counts. And constants are rounded to fp32 before they are
// used, as theirs are.
//
// Worked: 600 values are three blocks of 256, the last padded with 168 zeros, which change no
// largest magnitude and are cut off again.
//
// Blind spots: temporaries of several times the tensor's size live while it is stepped, where a
// kernel of one's own would need none; nested NF4 scales are centred on a mean in double, whose
// last bit depends on the order in which a device adds.
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "trainer/device/kernels.h"

namespace plateau::train {
namespace {

constexpr int64_t kSignedZero = 127;  // The code of 0 in the signed map.

at::Tensor table_of(std::span<const float> values, at::Device device) {
  const at::TensorOptions host(at::kFloat);
  return at::tensor(at::ArrayRef<float>(values.data(), values.size()), host).to(device);
}

// What lies between two neighbours belongs to the lower one up to here.
template <size_t N>
at::Tensor middles_of(const std::array<float, N>& values, at::Device device) {
  std::array<float, N - 1> middles{};
  for (size_t i = 0; i + 1 < N; ++i) middles[i] = (values[i] + values[i + 1]) * 0.5F;
  return table_of(middles, device);
}

// Rows of `block` values each, the last one filled up with zeros.
at::Tensor blocks_of(const at::Tensor& values, int64_t block) {
  const at::Tensor flat = values.reshape({-1});
  const int64_t rows = (flat.numel() + block - 1) / block;
  const int64_t missing = rows * block - flat.numel();
  return (missing == 0 ? flat : at::constant_pad_nd(flat, {0, missing})).view({rows, block});
}

struct Coded {
  at::Tensor indices;  // blocks x block, int64.
  at::Tensor absmax;   // blocks.
};

// How many of the middles each value exceeds once its block is divided by its largest magnitude.
Coded coded(const at::Tensor& blocks, const at::Tensor& middles) {
  const at::Tensor absmax = blocks.abs().amax(1, true);
  const at::Tensor inverse = absmax.reciprocal();
  // The inverse of the smallest denormals is infinite; a division is not. 0 / 0 is made 0.
  const at::Tensor scaled =
      at::where(inverse.isfinite(), blocks.mul(inverse), blocks.div(absmax)).nan_to_num_(0);
  return {at::bucketize(scaled, middles), absmax.view(-1)};
}

// The other way: values of a table, each block times its scale. Codes are bytes, as stored.
at::Tensor decoded(const at::Tensor& codes, const at::Tensor& table, const at::Tensor& scales,
                   int64_t block) {
  const at::Tensor rows = blocks_of(codes, block);
  const at::Tensor values = table.index_select(0, rows.reshape({-1}).to(at::kInt));
  return values.view(rows.sizes()).mul_(scales.unsqueeze(1)).view(-1).narrow(0, 0, codes.numel());
}

class TensorNf4 final : public Nf4Matrix {
 public:
  TensorNf4(int64_t rows, int64_t columns, at::Tensor packed, at::Tensor absmax)
      : rows_(rows), columns_(columns), packed_(std::move(packed)), absmax_(std::move(absmax)) {
    make_table();
  }
  TensorNf4(int64_t rows, int64_t columns, at::Tensor packed, State8 nested, at::Tensor nested_map,
            double nested_offset)
      : rows_(rows),
        columns_(columns),
        packed_(std::move(packed)),
        nested_(std::move(nested)),
        nested_map_(std::move(nested_map)),
        nested_offset_(nested_offset) {
    make_table();
  }

  [[nodiscard]] int64_t rows() const override { return rows_; }
  [[nodiscard]] int64_t columns() const override { return columns_; }
  [[nodiscard]] int64_t bytes() const override {
    int64_t bytes = 0;
    for (const at::Tensor* part :
         {&packed_, &absmax_, &nested_.codes, &nested_.absmax, &nested_map_}) {
      if (part->defined()) bytes += static_cast<int64_t>(part->nbytes());
    }
    return bytes;
  }

  // Whole blocks around the rows, of which the rows are cut out.
  [[nodiscard]] at::Tensor widen(int64_t first, int64_t last) const override {
    const int64_t begin = first * columns_ / kNf4Block;
    const int64_t end = (last * columns_ + kNf4Block - 1) / kNf4Block;
    const int64_t bytes_of_block = kNf4Block / 2;
    const int64_t stop = std::min(end * bytes_of_block, packed_.numel());
    const at::Tensor bytes =
        packed_.narrow(0, begin * bytes_of_block, stop - begin * bytes_of_block);
    const at::Tensor nibbles =
        at::stack({bytes.bitwise_right_shift(4), bytes.bitwise_and(15)}, 1).view(-1);
    return decoded(nibbles, table_, scales(begin, end), kNf4Block)
        .narrow(0, first * columns_ - begin * kNf4Block, (last - first) * columns_)
        .view({last - first, columns_});
  }

 private:
  void make_table() { table_ = table_of(kNf4Values, packed_.device()); }

  // Of blocks [begin, end).
  [[nodiscard]] at::Tensor scales(int64_t begin, int64_t end) const {
    if (absmax_.defined()) return absmax_.narrow(0, begin, end - begin);
    const at::Tensor codes = nested_.codes.narrow(0, begin, end - begin).to(at::kLong);
    const at::Tensor of_block = at::arange(begin, end, codes.options())
                                    .div(kNestedBlock, "floor");  // Its scale's own scale.
    return nested_map_.index_select(0, codes)
        .mul_(nested_.absmax.index_select(0, of_block))
        .add_(nested_offset_);
  }

  int64_t rows_;
  int64_t columns_;
  at::Tensor packed_;
  at::Tensor absmax_;  // Undefined if nested.
  State8 nested_;
  at::Tensor nested_map_;
  double nested_offset_ = 0;  // An fp32 number.
  at::Tensor table_;          // The sixteen values.
};

at::Tensor moved(const std::vector<uint8_t>& values, at::Device device) {
  return at::tensor(at::ArrayRef<uint8_t>(values), at::kByte).to(device);
}

std::shared_ptr<const Nf4Matrix> nested_matrix(const at::Tensor& wide, const at::Tensor& packed,
                                               const at::Tensor& absmax) {
  // The mean as one fp32 number on the host: it travels with every use.
  const auto offset = static_cast<float>(absmax.mean(at::kDouble).item<double>());
  const at::Device device = wide.device();
  const at::Tensor centred = absmax.sub(static_cast<double>(offset));
  const Coded nested =
      coded(blocks_of(centred, kNestedBlock), middles_of(dynamic_map(true), device));
  const at::Tensor codes =
      nested.indices.view(-1).narrow(0, 0, absmax.numel()).to(at::kByte).contiguous();
  return std::make_shared<const TensorNf4>(wide.size(0), wide.size(1), packed,
                                           State8{codes, nested.absmax},
                                           table_of(dynamic_map(true), device), offset);
}

// Moment and codes of one state: read, moved towards `towards`, written by write().
at::Tensor read(const State8& state, bool is_signed) {
  return decoded(state.codes.view(-1), table_of(dynamic_map(is_signed), state.codes.device()),
                 state.absmax, kStateBlock);
}

void write(const State8& state, const at::Tensor& moments, bool is_signed) {
  const Coded fresh =
      coded(blocks_of(moments, kStateBlock), middles_of(dynamic_map(is_signed), moments.device()));
  at::Tensor codes = fresh.indices.view(-1).narrow(0, 0, moments.numel());
  if (is_signed) {
    // A small negative moment keeps its sign: the code below that of 0.
    codes = at::where(moments.lt(0).logical_and_(codes.eq(kSignedZero)), codes.sub(1), codes);
  }
  state.codes.view(-1).copy_(codes);
  state.absmax.copy_(fresh.absmax);
}

// Correctly rounded, as the processor's own is. LibTorch's in fp32 goes by way of MKL where there
// is one, and that is off by one bit for a fifth of all numbers; in double it is near enough.
at::Tensor square_root(const at::Tensor& values) {
  return values.to(at::kDouble).sqrt_().to(at::kFloat);
}

double rounded(double value) {
  return static_cast<double>(static_cast<float>(value));
}

struct Moments {
  at::Tensor first;
  at::Tensor second;
};

// beta m + rest g and beta v + rest g^2, and 0 where the gradient is not finite. `rest` is 1 - beta
// as the kernel of the CPU rounds it.
Moments moved_moments(const Moments& old, const at::Tensor& gradients, const at::Tensor& usable,
                      std::array<double, 2> betas, std::array<double, 2> rests) {
  const at::Tensor first = old.first.mul(betas[0]).add_(gradients.mul(rests[0]));
  const at::Tensor second = old.second.mul(betas[1]).add_(gradients.mul(rests[1]).mul_(gradients));
  const at::Tensor zero = at::zeros({}, first.options());
  return {at::where(usable, first, zero), at::where(usable, second, zero)};
}

class TensorKernels final : public Kernels {
 public:
  [[nodiscard]] std::shared_ptr<const Nf4Matrix> hold(Nf4Weight weight,
                                                      at::Device device) const override {
    const int64_t rows = weight.shape.at(0);
    const int64_t columns = weight.shape.at(1);
    at::Tensor packed = moved(weight.packed, device);
    if (!weight.nested()) {
      return std::make_shared<const TensorNf4>(rows, columns, std::move(packed),
                                               table_of(weight.absmax, device));
    }
    const at::Tensor map = weight.nested_map.empty() ? table_of(dynamic_map(true), device)
                                                     : table_of(weight.nested_map, device);
    return std::make_shared<const TensorNf4>(
        rows, columns, std::move(packed),
        State8{moved(weight.nested_codes, device), table_of(weight.nested_absmax, device)}, map,
        weight.nested_offset);
  }

  [[nodiscard]] std::shared_ptr<const Nf4Matrix> quantise(const at::Tensor& wide,
                                                          bool double_quant) const override {
    const Coded blocks = coded(blocks_of(wide, kNf4Block), middles_of(kNf4Values, wide.device()));
    // An odd end is filled up with the index of 0, as all of the last block is.
    const int64_t pairs = (wide.numel() + 1) / 2;
    const at::Tensor nibbles =
        blocks.indices.view(-1).narrow(0, 0, 2 * pairs).view({pairs, 2}).to(at::kByte);
    at::Tensor packed =
        nibbles.select(1, 0).bitwise_left_shift(4).bitwise_or_(nibbles.select(1, 1));
    if (double_quant) return nested_matrix(wide, packed, blocks.absmax);
    return std::make_shared<const TensorNf4>(wide.size(0), wide.size(1), std::move(packed),
                                             blocks.absmax);
  }

  void adamw(const at::Tensor& weights, const at::Tensor& gradients, const at::Tensor& first,
             const at::Tensor& second, const Adam8Step& settings) const override {
    const at::NoGradGuard without_graph;
    const auto step = static_cast<double>(settings.step);
    const double rate = rounded(settings.learning_rate / (1 - std::pow(settings.beta1, step)));
    const double root = rounded(1 / std::sqrt(1 - std::pow(settings.beta2, step)));
    const double kept = rounded(1 - settings.learning_rate * settings.weight_decay);
    const at::Tensor usable = gradients.isfinite();
    const Moments now = moved_moments({first, second}, gradients, usable,
                                      {rounded(settings.beta1), rounded(settings.beta2)},
                                      {rounded(1 - settings.beta1), rounded(1 - settings.beta2)});
    const at::Tensor length = square_root(now.second).mul_(root).add_(rounded(settings.epsilon));
    const at::Tensor moved = weights.mul(kept).sub_(now.first.mul(rate).div_(length));
    weights.copy_(at::where(usable, moved, weights));
    first.copy_(now.first);
    second.copy_(now.second);
  }

  void adamw_8bit(const at::Tensor& weights, const at::Tensor& gradients, const State8& first,
                  const State8& second, const Adam8Step& settings) const override {
    const at::NoGradGuard without_graph;
    const auto step = static_cast<double>(settings.step);
    const double correction1 = 1 - std::pow(settings.beta1, step);
    const double correction2 = std::sqrt(1 - std::pow(settings.beta2, step));
    const auto beta1 = static_cast<float>(settings.beta1);
    const auto beta2 = static_cast<float>(settings.beta2);
    const double size = rounded(settings.learning_rate * correction2 / correction1);
    const double kept = rounded(1 - settings.learning_rate * settings.weight_decay);
    const at::Tensor flat = gradients.view(-1);
    const at::Tensor usable = flat.isfinite();
    const Moments now = moved_moments({read(first, true), read(second, false)}, flat, usable,
                                      {beta1, beta2}, {1.0F - beta1, 1.0F - beta2});
    const at::Tensor length = square_root(now.second).add_(rounded(settings.epsilon * correction2));
    const at::Tensor old = weights.view(-1);
    const at::Tensor moved = old.sub(now.first.div(length).mul_(size)).mul_(kept);
    old.copy_(at::where(usable, moved, old));
    write(first, now.first, true);
    write(second, now.second, false);
  }

  [[nodiscard]] double sum_of_squares(const std::vector<at::Tensor>& tensors) const override {
    at::Tensor sum;
    for (const at::Tensor& tensor : tensors) {
      at::Tensor own = tensor.to(at::kDouble).square_().sum();
      sum = sum.defined() ? sum.add_(own) : own;
    }
    return sum.defined() ? sum.item<double>() : 0;
  }
};

}  // namespace

const Kernels& tensor_kernels() {
  static const TensorKernels kernels;
  return kernels;
}

}  // namespace plateau::train
