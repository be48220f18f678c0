// SPDX-License-Identifier: Apache-2.0
// The kernels that are made of LibTorch's operations, against those of the CPU: the same bits.
#include "trainer/device/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "trainer/device/device.h"
#include "trainer/device/device_name.h"
#include "trainer/quant/test_numbers.h"

namespace plateau::train {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

at::Tensor drawn(at::IntArrayRef shape, uint64_t seed) {
  const at::Tensor out = at::empty(shape, at::kFloat);
  const std::vector<float> values = test_numbers(static_cast<size_t>(out.numel()), seed);
  std::memcpy(out.data_ptr(), values.data(), out.nbytes());
  return out;
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor left = a.contiguous();
  const at::Tensor right = b.contiguous();
  return left.sizes() == right.sizes() && left.dtype() == right.dtype() &&
         std::memcmp(left.data_ptr(), right.data_ptr(), left.nbytes()) == 0;
}

// Blocks of zeros, of denormals whose inverse is infinite, and of one large number among small
// ones; the last block is not full.
at::Tensor difficult_matrix(int64_t rows, int64_t columns) {
  at::Tensor out = drawn({rows, columns}, 3);
  at::Tensor flat = out.view(-1);
  flat.narrow(0, 0, 64).zero_();
  flat.narrow(0, 64, 64).mul_(1e-40);
  flat.narrow(0, 128, 64).mul_(1e-6).narrow(0, 5, 1).fill_(-3);
  return out;
}

TEST(Nf4Kernels, WidenToTheSameBitsFromTheCpusBytesAndFromTheirOwn) {
  for (const bool is_nested : {false, true}) {
    for (const auto& [rows, columns] :
         {std::pair<int64_t, int64_t>{48, 96}, {7, 131}, {3, 7001}, {33, 513}}) {
      const at::Tensor wide = difficult_matrix(rows, columns);
      const auto cpu = plain_kernels().quantise(wide, is_nested);
      const auto own = tensor_kernels().quantise(wide, is_nested);
      const auto held = tensor_kernels().hold(
          quantise_nf4({wide.data_ptr<float>(), static_cast<size_t>(wide.numel())}, {rows, columns},
                       is_nested),
          at::kCPU);
      for (const auto& [first, last] :
           {std::pair<int64_t, int64_t>{0, rows}, {1, rows}, {rows / 2, rows / 2 + 1}}) {
        const at::Tensor expected = cpu->widen(first, last);
        EXPECT_TRUE(same_bits(own->widen(first, last), expected))
            << is_nested << " " << rows << "x" << columns << " rows " << first;
        EXPECT_TRUE(same_bits(held->widen(first, last), expected))
            << is_nested << " " << rows << "x" << columns << " rows " << first;
      }
      EXPECT_GT((cpu->widen(0, rows) - wide).abs().max().item<double>(), 0);
    }
  }
}

TEST(Nf4Kernels, KeepTheMapOfAFileWithItsOwn) {
  const at::Tensor wide = drawn({40, 64}, 9);
  Nf4Weight weight = quantise_nf4({wide.data_ptr<float>(), 2560}, {40, 64}, true);
  weight.nested_map.assign(dynamic_map(true).begin(), dynamic_map(true).end());
  for (float& value : weight.nested_map) value *= 1.001F;
  const at::Tensor expected = plain_kernels().hold(weight, at::kCPU)->widen(0, 40);
  EXPECT_TRUE(same_bits(tensor_kernels().hold(weight, at::kCPU)->widen(0, 40), expected));
  weight.nested_map.clear();
  EXPECT_FALSE(same_bits(tensor_kernels().hold(weight, at::kCPU)->widen(0, 40), expected));
}

// Steps with both kernels from one start; gradients of all sizes, some of them not finite.
class Both {
 public:
  explicit Both(at::IntArrayRef shape) : weights_(drawn(shape, 1)), other_(weights_.clone()) {}

  template <typename Step>
  void go(const Step& step) {
    for (int64_t i = 1; i <= 6; ++i) {
      at::Tensor gradients = drawn(weights_.sizes(), 100 + static_cast<uint64_t>(i));
      at::Tensor flat = gradients.view(-1);
      flat.narrow(0, 256, 256).mul_(1e-7);
      flat.narrow(0, 3, 1).fill_(i == 2 ? kNan : 1);
      flat.narrow(0, 4, 1).fill_(i == 3 ? -kInfinity : -1e-30F);
      if (i == 4) gradients.zero_();
      const Adam8Step settings{.learning_rate = 1e-2, .weight_decay = 0.1, .step = i};
      step(gradients, settings);
      EXPECT_TRUE(same_bits(weights_, other_)) << "step " << i;
    }
  }

  at::Tensor weights_;
  at::Tensor other_;
};

TEST(AdamKernels, StepToTheSameBitsIn32Bits) {
  Both both({37, 29});
  const auto state = [&] { return at::zeros({37, 29}); };
  const at::Tensor first = state();
  const at::Tensor second = state();
  const at::Tensor other_first = state();
  const at::Tensor other_second = state();
  both.go([&](const at::Tensor& gradients, const Adam8Step& settings) {
    plain_kernels().adamw(both.weights_, gradients, first, second, settings);
    tensor_kernels().adamw(both.other_, gradients, other_first, other_second, settings);
    EXPECT_TRUE(same_bits(first, other_first) && same_bits(second, other_second));
  });
  EXPECT_GT((both.weights_ - drawn({37, 29}, 1)).abs().max().item<double>(), 1e-3);
}

TEST(AdamKernels, StepToTheSameBitsIn8BitsCodesAndScalesIncluded) {
  Both both({65, 67});
  const auto state = [] {
    return State8{at::zeros({65, 67}, at::kByte), at::zeros({(65 * 67 + 255) / 256})};
  };
  const State8 first = state();
  const State8 second = state();
  const State8 other_first = state();
  const State8 other_second = state();
  both.go([&](const at::Tensor& gradients, const Adam8Step& settings) {
    plain_kernels().adamw_8bit(both.weights_, gradients, first, second, settings);
    tensor_kernels().adamw_8bit(both.other_, gradients, other_first, other_second, settings);
    EXPECT_TRUE(same_bits(first.codes, other_first.codes));
    EXPECT_TRUE(same_bits(second.codes, other_second.codes));
    EXPECT_TRUE(same_bits(first.absmax, other_first.absmax));
    EXPECT_TRUE(same_bits(second.absmax, other_second.absmax));
  });
  EXPECT_GT(std::get<0>(at::_unique(first.codes)).numel(), 100);
}

TEST(SumOfSquares, IsTheSameNumberButForItsLastDigits) {
  const std::vector<at::Tensor> tensors = {drawn({301, 7}, 1), drawn({5}, 2)};
  const double expected = plain_kernels().sum_of_squares(tensors);
  EXPECT_GT(expected, 1);
  EXPECT_NEAR(tensor_kernels().sum_of_squares(tensors), expected, 1e-12 * expected);
  EXPECT_EQ(tensor_kernels().sum_of_squares({}), 0);
  EXPECT_TRUE(std::isnan(tensor_kernels().sum_of_squares({at::full({2}, kNan)})));
}

TEST(Device, ThatIsNotThereIsToldInOneLine) {
  EXPECT_TRUE(device_named("cpu").value().is_cpu());
  for (const char* name : {"gpu", "cuda:", "cuda:x", "cuda:-1", "CPU", "meta", ""}) {
    const auto checked = check_device(name);
    ASSERT_FALSE(checked.ok()) << name;
    EXPECT_NE(checked.error().message.find("cpu, cuda or cuda:N"), std::string::npos) << name;
  }
  if (at::globalContext().hasCUDA()) GTEST_SKIP() << "this PyTorch has CUDA";
  for (const char* name : {"cuda", "cuda:1"}) {
    const auto checked = check_device(name);
    ASSERT_FALSE(checked.ok()) << name;
    EXPECT_NE(checked.error().message.find("built for CPUs only"), std::string::npos);
    EXPECT_EQ(checked.error().message.find('\n'), std::string::npos);
  }
}

TEST(RandomState, ThatIsPutBackDrawsTheSame) {
  const at::Tensor before = random_state(at::kCPU);
  const at::Tensor first = at::rand({8});
  set_random_state(at::kCPU, before);
  EXPECT_TRUE(at::equal(at::rand({8}), first));
}

}  // namespace
}  // namespace plateau::train
