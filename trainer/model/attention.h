// SPDX-License-Identifier: Apache-2.0
// Attention whose memory grows with the sequence, not with its square.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace plateau::train {

struct AttentionShape {
  // Sequences within the packed tokens: starts with 0, ends with their number. A token attends to
  // its own sequence only.
  std::vector<int64_t> bounds;
  bool causal = false;
  int64_t chunk = 256;  // Queries at a time.
};

// The bounds with a sequence of so many tokens behind the others; the same if it is 0.
std::vector<int64_t> lengthened(std::vector<int64_t> bounds, int64_t more);

// q: tokens x heads x size; k and v: tokens x kv heads x size, heads a multiple of kv heads. Head i
// uses kv head i / (heads / kv heads). The result has the shape of q. Differentiable in q, k, v;
// for that it keeps them, the result and one number for each token and head.
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const AttentionShape& shape);

}  // namespace plateau::train
