// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/optimizer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "trainer/quant/blockwise8.h"

namespace plateau::train {
namespace {

// A matrix large enough for 8 bits, a small one, and a vector.
std::vector<NamedTensor> parameters() {
  at::manual_seed(1);
  std::vector<NamedTensor> out;
  for (const auto& [name, tensor] :
       {std::pair<const char*, at::Tensor>{"large.weight", at::randn({65, 64})},
        {"small.weight", at::randn({3, 5})},
        {"small.bias", at::randn({5})}}) {
    out.push_back({.name = name, .tensor = std::make_shared<at::Tensor>(tensor)});
    out.back().tensor->requires_grad_(true);
  }
  return out;
}

void set_gradients(const std::vector<NamedTensor>& tensors, uint64_t seed) {
  at::manual_seed(seed);
  for (const NamedTensor& named : tensors) {
    named.tensor->mutable_grad().copy_(at::randn(named.tensor->sizes()));
  }
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() &&
         std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0;
}

std::vector<StateTensor> copies(const std::vector<StateTensor>& states) {
  std::vector<StateTensor> out;
  for (const StateTensor& state : states) {
    out.push_back(
        {.name = state.name, .tensor = std::make_shared<at::Tensor>(state.tensor->clone())});
  }
  return out;
}

class EitherKind : public testing::TestWithParam<OptimizerKind> {};
INSTANTIATE_TEST_SUITE_P(Optimizer, EitherKind,
                         testing::Values(OptimizerKind::adamw, OptimizerKind::adamw_8bit));

TEST_P(EitherKind, RestoredStatesGoOnToTheBit) {
  const OptimizerOptions options{.kind = GetParam()};
  const auto whole = parameters();
  Optimizer straight(whole, options);
  for (uint64_t step = 0; step < 8; ++step) {
    set_gradients(whole, 100 + step);
    straight.clip();
    straight.step(1e-3);
  }

  const auto half = parameters();
  std::vector<StateTensor> saved;
  {
    Optimizer first(half, options);
    for (uint64_t step = 0; step < 4; ++step) {
      set_gradients(half, 100 + step);
      first.clip();
      first.step(1e-3);
    }
    saved = copies(first.state());
  }
  Optimizer second(half, options);
  ASSERT_TRUE(second.restore(saved, 4).ok());
  for (uint64_t step = 4; step < 8; ++step) {
    set_gradients(half, 100 + step);
    second.clip();
    second.step(1e-3);
  }

  EXPECT_EQ(second.steps(), 8);
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_TRUE(same_bits(*whole[i].tensor, *half[i].tensor)) << whole[i].name;
  }
  const auto a = straight.state();
  const auto b = second.state();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_bits(*a[i].tensor, *b[i].tensor)) << i;
}

TEST_P(EitherKind, DecayShrinksMatricesOnly) {
  const auto tensors = parameters();
  std::vector<at::Tensor> before;
  for (const auto& named : tensors) before.push_back(named.tensor->detach().clone());
  Optimizer optimizer(tensors, {.kind = GetParam(), .weight_decay = 0.5});
  optimizer.step(0.1);  // All gradients are 0.
  EXPECT_TRUE(at::allclose(*tensors[0].tensor, before[0] * 0.95));
  EXPECT_TRUE(at::allclose(*tensors[1].tensor, before[1] * 0.95));
  EXPECT_TRUE(same_bits(*tensors[2].tensor, before[2]));
}

TEST_P(EitherKind, BadGradientLeavesItsWeightAndTheOthersMove) {
  const auto tensors = parameters();
  const at::Tensor before = tensors[0].tensor->detach().clone();
  Optimizer optimizer(tensors, {.kind = GetParam()});
  set_gradients(tensors, 3);
  tensors[0].tensor->mutable_grad().data_ptr<float>()[7] = std::nanf("");
  EXPECT_TRUE(std::isnan(optimizer.clip()));
  optimizer.step(1e-2);
  const auto* now = tensors[0].tensor->data_ptr<float>();
  EXPECT_EQ(now[7], before.data_ptr<float>()[7]);
  EXPECT_NE(now[8], before.data_ptr<float>()[8]);
  EXPECT_TRUE(at::isfinite(*tensors[0].tensor).all().item<bool>());
}

TEST(Optimizer, ClippingScalesTheGlobalNormDownAndNeverUp) {
  const auto tensors = parameters();
  Optimizer optimizer(tensors, {.kind = OptimizerKind::adamw, .max_grad_norm = 1.0});
  set_gradients(tensors, 5);
  double squares = 0;
  for (const auto& named : tensors) {
    squares += named.tensor->grad().to(at::kDouble).square().sum().item<double>();
  }
  EXPECT_NEAR(optimizer.clip(), std::sqrt(squares), 1e-9 * std::sqrt(squares));
  EXPECT_NEAR(optimizer.clip(), 1.0, 1e-6);
  optimizer.scale_gradients(0.25);
  EXPECT_NEAR(optimizer.clip(), 0.25, 1e-6);
  EXPECT_NEAR(optimizer.clip(), 0.25, 1e-6);
}

TEST(Optimizer, ZeroNormLimitOnlyMeasures) {
  const auto tensors = parameters();
  Optimizer optimizer(tensors, {.kind = OptimizerKind::adamw, .max_grad_norm = 0});
  set_gradients(tensors, 5);
  EXPECT_EQ(optimizer.clip(), optimizer.clip());
  EXPECT_GT(optimizer.clip(), 10);
}

TEST(Optimizer, GradientMemoryIsThereFromTheStartAndStays) {
  const auto tensors = parameters();
  Optimizer optimizer(tensors, {});
  const void* memory = tensors[0].tensor->grad().data_ptr();
  for (int step = 0; step < 3; ++step) {
    tensors[0].tensor->square().sum().backward();
    optimizer.step(1e-3);
    optimizer.zero_grad();
    EXPECT_EQ(tensors[0].tensor->grad().data_ptr(), memory);
    EXPECT_EQ(tensors[0].tensor->grad().abs().max().item<float>(), 0);
  }
}

TEST(Optimizer, EightBitStatesTakeAQuarterAndSmallTensorsStayIn32Bits) {
  const auto tensors = parameters();
  const Optimizer wide(tensors, {.kind = OptimizerKind::adamw});
  const Optimizer narrow(tensors, {.kind = OptimizerKind::adamw_8bit});
  constexpr int64_t kLarge = 65 * 64;
  constexpr int64_t kSmall = 15 + 5;
  static_assert(kLarge >= kMin8BitElements);
  EXPECT_EQ(wide.state_bytes(), 8 * (kLarge + kSmall));
  EXPECT_EQ(narrow.state_bytes(), 2 * (kLarge + 4 * ((kLarge + 255) / 256)) + 8 * kSmall);
}

TEST(Optimizer, RestoreRefusesOtherStatesAndChangesNothing) {
  const auto tensors = parameters();
  Optimizer wide(tensors, {.kind = OptimizerKind::adamw});
  Optimizer narrow(tensors, {.kind = OptimizerKind::adamw_8bit});
  EXPECT_FALSE(wide.restore(narrow.state(), 3).ok());

  set_gradients(tensors, 9);
  wide.step(1e-3);
  auto other = copies(wide.state());
  const auto before = copies(wide.state());
  *other[0].tensor = at::ones({65, 64});
  *other[1].tensor = at::zeros({64, 65});
  const auto refused = wide.restore(other, 3);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("large.weight.exp_avg_sq"), std::string::npos);
  EXPECT_EQ(wide.steps(), 1);
  EXPECT_TRUE(same_bits(*wide.state()[0].tensor, *before[0].tensor));
}

TEST(Optimizer, EightBitFollows32BitClosely) {
  const auto exact = parameters();
  const auto coded = parameters();
  const at::Tensor begin = exact[0].tensor->detach().clone();
  Optimizer wide(exact, {.kind = OptimizerKind::adamw});
  Optimizer narrow(coded, {.kind = OptimizerKind::adamw_8bit});
  for (uint64_t step = 0; step < 20; ++step) {
    set_gradients(exact, 50 + step);
    set_gradients(coded, 50 + step);
    wide.step(1e-2);
    narrow.step(1e-2);
  }
  const double moved = (*exact[0].tensor - begin).norm().item<double>();
  const double apart = (*exact[0].tensor - *coded[0].tensor).norm().item<double>();
  EXPECT_LT(apart, 0.1 * moved);
  EXPECT_GT(apart, 0);
}

}  // namespace
}  // namespace plateau::train
