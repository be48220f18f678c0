// SPDX-License-Identifier: Apache-2.0
// The differentiable pieces of a layer, each keeping as little as its gradient needs.
//
// All take tokens in the first dimension. What is kept for the way back, beyond tensors that exist
// anyway:
//   rms_norm      its input and one number a token
//   swiglu        its two inputs
//   rotate        nothing (cosines and sines are shared by all layers)
//   remade        nothing, but its own inputs, which those above keep anyway
//   checkpointed  its input, and the state of the random generator if `has_randomness`
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <functional>

namespace plateau::train {

// x / sqrt(mean(x^2) + epsilon) * weight, over the last dimension.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon);

// silu(gate) * up.
at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);

// A tensor that a layer needs again on the way back and does not keep: `again` makes it anew, the
// same bits, from tensors that are kept in any case. Without `again` the tensor is kept.
struct Remade {
  at::Tensor value;
  std::function<at::Tensor()> again;
};
Remade remade_rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon);
Remade remade_swiglu(const at::Tensor& gate, const at::Tensor& up);

// Angles of a rotary embedding: tokens x (head size / 2). The first half of a head turns with the
// second half.
struct Rotation {
  at::Tensor cosines;
  at::Tensor sines;
};
Rotation rotation_of(const at::Tensor& angles);

// With so many rows of zeros behind its own.
at::Tensor lengthened(const at::Tensor& x, int64_t more);
// The first rows; x itself, with no step in the graph, if those are all.
at::Tensor shortened(const at::Tensor& x, int64_t rows);
Rotation lengthened(const Rotation& rotation, int64_t more);

// tokens x heads x size.
at::Tensor rotate(const at::Tensor& x, const Rotation& rotation);

// tokens x 3 x heads x size: queries and keys turned, values as they are, in tensors of their own.
std::array<at::Tensor, 3> split_and_rotate(const at::Tensor& qkv, const Rotation& rotation);

// Runs `layer` without a graph, and again with one on the way back. The gradients are those of
// layer(x) to the bit, because it computes the same. Parameters get theirs in grad() at once.
using Layer = std::function<at::Tensor(const at::Tensor& x)>;
at::Tensor checkpointed(const Layer& layer, const at::Tensor& x, bool has_randomness);

}  // namespace plateau::train
