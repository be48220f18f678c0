// SPDX-License-Identifier: Apache-2.0
// Every piece against the same thing in plain operations, values and gradients, in double
// precision, where a wrong formula cannot hide behind rounding.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <vector>

#include "trainer/model/attention.h"
#include "trainer/model/functions.h"
#include "trainer/model/linear.h"

namespace plateau::train {
namespace {

using Tensors = std::vector<at::Tensor>;
using Compute = std::function<at::Tensor(const Tensors&)>;

at::Tensor random_of(at::IntArrayRef shape, uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  return at::empty(shape, at::kDouble).normal_(0, 1, generator);
}

// The result and the gradients of a random weighting of it.
Tensors with_gradients(const Compute& compute, const Tensors& inputs) {
  Tensors own;
  for (const at::Tensor& input : inputs) {
    own.push_back(input.detach().clone().set_requires_grad(true));
  }
  const at::Tensor out = compute(own);
  torch::autograd::backward({(out * random_of(out.sizes(), 99)).sum()}, {});
  Tensors all = {out.detach()};
  for (const at::Tensor& input : own) {
    all.push_back(input.grad());
  }
  return all;
}

void expect_same(const Compute& ours, const Compute& plain, const Tensors& inputs) {
  const Tensors a = with_gradients(ours, inputs);
  const Tensors b = with_gradients(plain, inputs);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(a[i].defined() && b[i].defined()) << i;
    EXPECT_LE((a[i] - b[i]).abs().max().item<double>(), 1e-11)
        << (i == 0 ? "value" : "gradient") << " " << i;
  }
}

at::Tensor plain_attention(const Tensors& qkv, const AttentionShape& shape) {
  const int64_t shared = qkv[0].size(1) / qkv[1].size(1);
  Tensors parts;
  for (size_t i = 0; i + 1 < shape.bounds.size(); ++i) {
    const int64_t length = shape.bounds[i + 1] - shape.bounds[i];
    const auto cut = [&](const at::Tensor& x, int64_t repeats) {
      return x.narrow(0, shape.bounds[i], length).repeat_interleave(repeats, 1).transpose(0, 1);
    };
    at::Tensor scores = at::matmul(cut(qkv[0], 1), cut(qkv[1], shared).transpose(1, 2)) /
                        std::sqrt(static_cast<double>(qkv[0].size(2)));
    if (shape.causal) {
      const at::Tensor future = at::ones({length, length}, at::kBool).triu(1);
      scores = scores.masked_fill(future, -std::numeric_limits<double>::infinity());
    }
    parts.push_back(at::matmul(scores.softmax(-1), cut(qkv[2], shared)).transpose(0, 1));
  }
  return at::cat(parts, 0);
}

void expect_plain_attention(const AttentionShape& shape, int64_t heads, int64_t kv_heads) {
  const int64_t tokens = shape.bounds.back();
  const Tensors inputs = {random_of({tokens, heads, 6}, 1), random_of({tokens, kv_heads, 6}, 2),
                          random_of({tokens, kv_heads, 6}, 3)};
  expect_same([&](const Tensors& x) { return attend(x[0], x[1], x[2], shape); },
              [&](const Tensors& x) { return plain_attention(x, shape); }, inputs);
}

TEST(Attention, EqualsPlainAttentionWithAnyChunk) {
  for (const int64_t chunk : {1, 3, 5, 64}) {
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(std::to_string(chunk) + (causal ? " causal" : ""));
      expect_plain_attention({{0, 13}, causal, chunk}, 4, 2);
      expect_plain_attention({{0, 4, 8, 12, 15, 15, 22}, causal, chunk}, 6, 2);
      expect_plain_attention({{0, 1, 2, 3}, causal, chunk}, 2, 2);
    }
  }
}

TEST(Attention, EqualsPlainAttentionWhenStripsAreLargerThanOneUnit) {
  expect_plain_attention({{0, 1100}, true, 256}, 4, 2);
  expect_plain_attention({{0, 1100}, false, 300}, 2, 2);
}

TEST(Attention, GroupsOfWindowsEqualPlainAttention) {
  AttentionShape shape;
  for (int64_t i = 0; i <= 90; ++i) {  // More than fit into one strip.
    shape.bounds.push_back(64 * i);
  }
  shape.bounds.push_back(shape.bounds.back() + 16);
  expect_plain_attention(shape, 4, 4);
}

TEST(Functions, NormEqualsItsFormula) {
  expect_same(
      [](const Tensors& x) { return rms_norm(x[0], x[1], 1e-6); },
      [](const Tensors& x) { return x[1] * (x[0] * (x[0].pow(2).mean(-1, true) + 1e-6).rsqrt()); },
      {random_of({7, 10}, 1), random_of({10}, 2)});
}

TEST(Functions, SwigluEqualsItsFormula) {
  expect_same([](const Tensors& x) { return swiglu(x[0], x[1]); },
              [](const Tensors& x) { return x[0] * x[0].sigmoid() * x[1]; },
              {random_of({7, 10}, 1), random_of({7, 10}, 2)});
}

at::Tensor plain_rotation(const at::Tensor& x, const at::Tensor& angles) {
  const at::Tensor both = at::cat({angles, angles}, -1).unsqueeze(1);
  const int64_t half = x.size(-1) / 2;
  const at::Tensor swapped = at::cat({-x.narrow(-1, half, half), x.narrow(-1, 0, half)}, -1);
  return x * both.cos() + swapped * both.sin();
}

TEST(Functions, RotationsEqualTheirFormula) {
  const at::Tensor angles = random_of({5, 4}, 7);
  const Rotation rotation = rotation_of(angles);
  expect_same([&](const Tensors& x) { return rotate(x[0], rotation); },
              [&](const Tensors& x) { return plain_rotation(x[0], angles); },
              {random_of({5, 3, 8}, 1)});
  expect_same(
      [&](const Tensors& x) {
        const auto [q, k, v] = split_and_rotate(x[0], rotation);
        return at::stack({q, k, v});
      },
      [&](const Tensors& x) {
        return at::stack({plain_rotation(x[0].select(1, 0), angles),
                          plain_rotation(x[0].select(1, 1), angles), x[0].select(1, 2)});
      },
      {random_of({5, 3, 2, 8}, 1)});
}

TEST(Functions, ACheckpointedLayerHasTheSameGradients) {
  const at::Tensor weight = random_of({6, 6}, 3);
  const Layer layer = [&](const at::Tensor& x) { return at::mm(x, weight).tanh() * x; };
  expect_same([&](const Tensors& x) { return checkpointed(layer, x[0], true); },
              [&](const Tensors& x) { return layer(x[0]); }, {random_of({4, 6}, 1)});
}

TEST(Linear, FrozenWithAdapterEqualsItsFormula) {
  Linear layer;
  layer.stored = StoredMatrix(random_of({5, 7}, 1));
  layer.bias = random_of({5}, 2);
  layer.scaling = 0.7;
  const at::Tensor weight = layer.stored.times(at::eye(5, at::kDouble));
  expect_same(
      [&](const Tensors& x) {
        layer.lora_a = x[1];
        layer.lora_b = x[2];
        return layer.apply(x[0], true);
      },
      [&](const Tensors& x) {
        return at::mm(x[0], (weight + 0.7 * at::mm(x[2], x[1])).t()) + layer.bias;
      },
      {random_of({4, 7}, 3), random_of({2, 7}, 4), random_of({5, 2}, 5)});
}

TEST(Linear, TrainedEqualsItsFormula) {
  Linear layer;
  expect_same(
      [&](const Tensors& x) {
        layer.weight = x[1];
        layer.bias = x[2];
        return layer.apply(x[0], true);
      },
      [&](const Tensors& x) { return at::mm(x[0], x[1].t()) + x[2]; },
      {random_of({4, 7}, 3), random_of({5, 7}, 4), random_of({5}, 5)});
}

TEST(Linear, WideningInPiecesEqualsTheWholeProduct) {
  // 3 pieces: 4096 columns leave room for 1024 rows in one.
  const at::Tensor dense = random_of({2100, 4096}, 1).to(at::kBFloat16);
  const at::Tensor wide = dense.to(at::kFloat);
  const at::Tensor x = random_of({3, 4096}, 2).to(at::kFloat);
  const at::Tensor y = random_of({3, 2100}, 3).to(at::kFloat);
  const at::Tensor bias = random_of({2100}, 4).to(at::kFloat);
  const StoredMatrix stored(dense);
  EXPECT_EQ(stored.bytes(), 2 * 2100 * 4096);
  EXPECT_TRUE(
      at::allclose(stored.times_transposed(x, bias), at::addmm(bias, x, wide.t()), 1e-4, 1e-3));
  EXPECT_TRUE(at::allclose(stored.times(y), at::mm(y, wide), 1e-4, 1e-3));
}

at::Tensor plain_loss(const at::Tensor& hidden, const at::Tensor& weight,
                      const at::Tensor& targets) {
  return -at::mm(hidden, weight.t()).log_softmax(-1).gather(1, targets.unsqueeze(1)).sum();
}

TEST(HeadLoss, EqualsCrossEntropyForFrozenAndTrainedHeads) {
  const at::Tensor targets = at::tensor({3, 0, 8, 8, 1}, at::kLong);
  const at::Tensor hidden = random_of({5, 4}, 1);
  const at::Tensor weight = random_of({9, 4}, 2);
  for (const int64_t chunk : {1, 2, 5, 100}) {
    Linear frozen;
    frozen.stored = StoredMatrix(weight);
    expect_same([&](const Tensors& x) { return head_loss(x[0], frozen, targets, chunk); },
                [&](const Tensors& x) { return plain_loss(x[0], weight, targets); }, {hidden});
    Linear trained;
    expect_same(
        [&](const Tensors& x) {
          trained.weight = x[1];
          return head_loss(x[0], trained, targets, chunk);
        },
        [&](const Tensors& x) { return plain_loss(x[0], x[1], targets); }, {hidden, weight});
  }
}

}  // namespace
}  // namespace plateau::train
