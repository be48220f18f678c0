// SPDX-License-Identifier: Apache-2.0
// Tensors as torch lays them out, in memory that never was. Real ones are looked into by
// tests/e2e/profile-names-what-holds-tensors.sh.
#include "census/tensor_graph.h"

#include <gtest/gtest.h>

#include <vector>

#include "census/invented_memory.h"

namespace plateau {
namespace {

struct Form {
  uint64_t depth, edges, edge_bytes;
  bool shared;
};
constexpr Form kNow = {24, 88, 16, false};
constexpr Form kBefore = {32, 96, 24, true};

class InventedTorch {
 public:
  explicit InventedTorch(const Form& form) : form_(form) {}

  uint64_t node(uint64_t depth, const std::vector<uint64_t>& next) {
    const uint64_t at = memory.take(160);
    memory.put(at, functions_);
    if (form_.shared) memory.put(at + 8, at);
    memory.put(at + form_.depth, depth);
    const uint64_t edges = memory.take(next.size() * form_.edge_bytes + 16);
    for (size_t i = 0; i < next.size(); ++i) memory.put(edges + i * form_.edge_bytes, next[i]);
    memory.put(at + form_.edges, edges);
    memory.put(at + form_.edges + 8, edges + next.size() * form_.edge_bytes);
    return at;
  }

  uint64_t tensor(uint64_t grad_fn) {
    const uint64_t object = memory.take(32), impl = memory.take(64), meta = memory.take(64);
    memory.put(object + 16, impl);
    memory.put(impl + 24, meta);
    memory.put(meta, functions_);
    memory.put(meta + 8, meta + 24);
    memory.put(meta + 48, grad_fn);
    return object;
  }

  InventedMemory memory{1 << 16};

 private:
  Form form_;
  uint64_t functions_ = memory.take(16);
};

class TensorGraphOf : public ::testing::TestWithParam<Form> {};

TEST_P(TensorGraphOf, TheDepthIsThatOfTheLongestWay) {
  InventedTorch torch(GetParam());
  const uint64_t leaf = torch.node(0, {});
  const uint64_t first = torch.node(1, {leaf});
  const uint64_t second = torch.node(2, {first, 0});
  const uint64_t tensor = torch.tensor(torch.node(3, {leaf, second}));
  const auto told = TensorGraphs(torch.memory).look(tensor);
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->has_grad_fn);
  EXPECT_EQ(told->depth, 3U);
}

TEST_P(TensorGraphOf, WithoutGradFnTheDepthIsNone) {
  InventedTorch torch(GetParam());
  const auto told = TensorGraphs(torch.memory).look(torch.tensor(0));
  ASSERT_TRUE(told);
  EXPECT_FALSE(told->has_grad_fn);
  EXPECT_EQ(told->depth, 0U);
}

TEST_P(TensorGraphOf, ANumberThatTheEdgesDoNotBearOutIsNoDepth) {
  InventedTorch torch(GetParam());
  const uint64_t leaf = torch.node(0, {});
  for (const uint64_t wrong : {torch.node(7, {leaf}), torch.node(7, {}), torch.node(0, {leaf}),
                               torch.node(1, {0xdead'0000})}) {
    const auto told = TensorGraphs(torch.memory).look(torch.tensor(wrong));
    ASSERT_TRUE(told);
    EXPECT_TRUE(told->has_grad_fn);
    EXPECT_EQ(told->depth, std::nullopt);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, TensorGraphOf, ::testing::Values(kNow, kBefore));

}  // namespace
}  // namespace plateau
