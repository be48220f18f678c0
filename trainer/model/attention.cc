// SPDX-License-Identifier: Apache-2.0
// Attention in pieces, forward and backward.
//
// Scores of a sequence of S tokens are S x S for every head: at 5,184 patches and 16 heads 1.7 GB,
// at 16 megapixels 275 GB. Only a strip of them is needed at a time: `chunk` queries against all
// keys. The way forward makes a strip, its softmax and its part of the result, and keeps of it only
// the logarithm of the sum of exponentials of each row. The way back makes the strip again,
// P = exp(score - that logarithm), and with D = sum(dO * O) of each row
//
//   dV += P' dO      dS = P * (dO V' - D)      dQ = dS K      dK += dS' Q.
//
// Worked: S = 2048, 8 query heads for a kv head, chunk 256: a strip is 8 x 256 x 2048 floats, 16.8
// MB, two of them on the way back; the whole would be 537 MB for 16 heads and two kv heads.
//
// Work is cut into units: one kv head of one sequence, with all query heads that share it, so that
// keys and values are never repeated. Sequences of equal length that follow each other (windows of
// a picture) are put together until a strip has kStripValues. A causal strip ends at its last
// query: half of the square is never computed.
//
// In bf16 scores, probabilities and sums are in fp32, and rounded where a product takes them.
//
// LibTorch has an attention that keeps no scores either, at::scaled_dot_product_attention: it takes
// over on devices other than the CPU, and in bf16 where products are not made of tiles
// (device/products.h). In fp32 on the CPU it stays with the strips, whose numbers are the trainer's
// own in every version of LibTorch.
#include "trainer/model/attention.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "trainer/device/products.h"

namespace plateau::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kStripValues = int64_t{1} << 20;
constexpr double kMasked = -1e30;  // Finite, so that no row can become NaN.

// `count` sequences of `length` tokens from token `first` on.
struct Group {
  int64_t first = 0;
  int64_t count = 0;
  int64_t length = 0;
};

std::vector<Group> groups_of(const std::vector<int64_t>& bounds) {
  std::vector<Group> groups;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    const int64_t length = bounds[i + 1] - bounds[i];
    if (length == 0) {
      continue;
    }
    if (!groups.empty() && groups.back().length == length) {
      ++groups.back().count;
    } else {
      groups.push_back({bounds[i], 1, length});
    }
  }
  return groups;
}

// A block of units: sequences [sequence, +sequences) of a group, kv heads [head, +heads).
struct Block {
  int64_t sequence = 0;
  int64_t sequences = 1;
  int64_t head = 0;
  int64_t heads = 1;
};

std::vector<Block> blocks_of(const Group& group, int64_t kv_heads, int64_t strip_values) {
  const int64_t units = std::max<int64_t>(1, kStripValues / strip_values);
  const int64_t heads = std::min(kv_heads, units);
  const int64_t sequences = heads == kv_heads ? std::min(group.count, units / kv_heads) : 1;
  std::vector<Block> blocks;
  for (int64_t s = 0; s < group.count; s += sequences) {
    for (int64_t h = 0; h < kv_heads; h += heads) {
      blocks.push_back({s, std::min(sequences, group.count - s), h, std::min(heads, kv_heads - h)});
    }
  }
  return blocks;
}

// tokens x heads x size seen as sequences x length x heads x size, cut to a block with `shared`
// heads for a kv head, with heads before tokens.
at::Tensor block_view(const at::Tensor& packed, const Group& group, const Block& block,
                      int64_t shared) {
  return packed.narrow(0, group.first, group.count * group.length)
      .view({group.count, group.length, packed.size(1), packed.size(2)})
      .narrow(0, block.sequence, block.sequences)
      .narrow(2, block.head * shared, block.heads * shared)
      .permute({0, 2, 1, 3});
}

// The same as units x rows x size: rows of a unit are its query heads one after the other.
at::Tensor units_of(const at::Tensor& view, const Block& block) {
  const int64_t units = block.sequences * block.heads;
  return view.reshape({units, view.size(1) / block.heads * view.size(2), view.size(3)});
}

struct Strip {
  int64_t first = 0;
  int64_t rows = 0;
  int64_t keys = 0;
};

std::vector<Strip> strips_of(const Group& group, const AttentionShape& shape) {
  std::vector<Strip> strips;
  for (int64_t first = 0; first < group.length; first += shape.chunk) {
    const int64_t rows = std::min(shape.chunk, group.length - first);
    strips.push_back({first, rows, shape.causal ? first + rows : group.length});
  }
  return strips;
}

// Scores are (queries x scale) keys'. In fp32 the few queries are scaled; in bf16 that would round
// them once more, and the scores are.
struct Scales {
  double queries = 1;
  double scores = 1;
};

Scales scales_of(const at::Tensor& q) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(2)));
  return q.scalar_type() == at::kFloat ? Scales{.queries = scale} : Scales{.scores = scale};
}

at::Tensor scaled(const at::Tensor& x, double scale) {
  return scale == 1 ? x : x.mul(scale);
}

// Scores of a strip in fp32; `future` is the triangle above the diagonal, undefined if not causal.
at::Tensor strip_scores(const at::Tensor& queries, const at::Tensor& keys, const Strip& strip,
                        const at::Tensor& future, double scale) {
  at::Tensor scores =
      unit_products(queries, keys.narrow(1, 0, strip.keys).transpose(1, 2), at::kFloat);
  if (scale != 1) {
    scores.mul_(scale);
  }
  if (future.defined()) {
    scores.view({-1, strip.rows, strip.keys})
        .narrow(2, strip.first, strip.rows)
        .masked_fill_(future.narrow(0, 0, strip.rows).narrow(1, 0, strip.rows), kMasked);
  }
  return scores;
}

at::Tensor future_of(const AttentionShape& shape, const at::Tensor& like) {
  if (!shape.causal) {
    return {};
  }
  return at::ones({shape.chunk, shape.chunk}, like.options().dtype(at::kBool)).triu_(1);
}

// What both ways go through: `visit(group, block, strips)` for all work there is.
template <typename Visit>
void for_each_block(const at::Tensor& q, const at::Tensor& k, const AttentionShape& shape,
                    const Visit& visit) {
  const int64_t shared = q.size(1) / k.size(1);
  for (const Group& group : groups_of(shape.bounds)) {
    const int64_t rows = std::min(shape.chunk, group.length);
    const std::vector<Strip> strips = strips_of(group, shape);
    for (const Block& block : blocks_of(group, k.size(1), shared * rows * group.length)) {
      visit(group, block, strips);
    }
  }
}

void forward_pieces(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const AttentionShape& shape, at::Tensor& out, at::Tensor& logsum) {
  const int64_t shared = q.size(1) / k.size(1);
  const Scales scales = scales_of(q);
  const at::Tensor future = future_of(shape, q);
  for_each_block(
      q, k, shape, [&](const Group& group, const Block& block, const std::vector<Strip>& strips) {
        const at::Tensor queries = block_view(q, group, block, shared);
        const at::Tensor keys = units_of(block_view(k, group, block, 1), block);
        const at::Tensor values = units_of(block_view(v, group, block, 1), block);
        at::Tensor result = block_view(out, group, block, shared);
        at::Tensor sums = block_view(logsum, group, block, shared);
        for (const Strip& strip : strips) {
          const at::Tensor rows = queries.narrow(2, strip.first, strip.rows);
          at::Tensor scores = strip_scores(scaled(units_of(rows, block), scales.queries), keys,
                                           strip, future, scales.scores);
          const at::Tensor largest = scores.amax(-1, true);
          scores.sub_(largest).exp_();
          const at::Tensor sum = scores.sum(-1, true);
          const at::Tensor part =
              unit_products(scores.to(q.scalar_type()), values.narrow(1, 0, strip.keys), at::kFloat)
                  .div_(sum);
          result.narrow(2, strip.first, strip.rows).copy_(part.view(rows.sizes()));
          sums.narrow(2, strip.first, strip.rows)
              .copy_(sum.log().add_(largest).view({rows.size(0), rows.size(1), rows.size(2), 1}));
        }
      });
}

struct Gradients {
  at::Tensor q;
  at::Tensor k;
  at::Tensor v;
};

struct Saved {
  at::Tensor q;
  at::Tensor k;
  at::Tensor v;
  at::Tensor out;
  at::Tensor logsum;
};

void backward_block(const Saved& saved, const at::Tensor& grad_out, const Group& group,
                    const Block& block, const std::vector<Strip>& strips, const at::Tensor& future,
                    Gradients& grads) {
  const int64_t shared = saved.q.size(1) / saved.k.size(1);
  const Scales scales = scales_of(saved.q);
  const at::ScalarType type = saved.q.scalar_type();
  const at::Tensor queries = block_view(saved.q, group, block, shared);
  const at::Tensor results = block_view(saved.out, group, block, shared);
  const at::Tensor sums = block_view(saved.logsum, group, block, shared);
  const at::Tensor grad_results = block_view(grad_out, group, block, shared);
  at::Tensor grad_queries = block_view(grads.q, group, block, shared);
  const at::Tensor k_view = block_view(saved.k, group, block, 1);
  const at::Tensor keys = units_of(k_view, block);
  const at::Tensor values = units_of(block_view(saved.v, group, block, 1), block);
  at::Tensor grad_keys = at::zeros(keys.sizes(), keys.options().dtype(at::kFloat));
  at::Tensor grad_values = at::zeros(keys.sizes(), keys.options().dtype(at::kFloat));
  for (const Strip& strip : strips) {
    const auto cut = [&](const at::Tensor& view) {
      return units_of(view.narrow(2, strip.first, strip.rows), block);
    };
    const at::Tensor rows = scaled(cut(queries), scales.queries);
    const at::Tensor grad_rows = cut(grad_results);
    at::Tensor p = strip_scores(rows, keys, strip, future, scales.scores).sub_(cut(sums)).exp_();
    add_unit_products(grad_values.narrow(1, 0, strip.keys), p.to(type).transpose(1, 2), grad_rows);
    const at::Tensor inner = at::mul(grad_rows.to(at::kFloat), cut(results)).sum(-1, true);
    at::Tensor grad_scores =
        unit_products(grad_rows, values.narrow(1, 0, strip.keys).transpose(1, 2), at::kFloat);
    grad_scores.sub_(inner).mul_(p);
    p.reset();
    if (scales.scores != 1) {
      grad_scores.mul_(scales.scores);
    }
    grad_scores = grad_scores.to(type);
    add_unit_products(grad_keys.narrow(1, 0, strip.keys), grad_scores.transpose(1, 2), rows);
    at::Tensor target = grad_queries.narrow(2, strip.first, strip.rows);
    target.copy_(scaled(unit_products(grad_scores, keys.narrow(1, 0, strip.keys), at::kFloat),
                        scales.queries)
                     .view(target.sizes()));
  }
  block_view(grads.k, group, block, 1).copy_(grad_keys.view(k_view.sizes()));
  block_view(grads.v, group, block, 1).copy_(grad_values.view(k_view.sizes()));
}

struct ChunkedAttention : torch::autograd::Function<ChunkedAttention> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const AttentionShape& shape) {
    at::Tensor out = at::empty(q.sizes(), q.options());
    at::Tensor logsum = at::empty({q.size(0), q.size(1), 1}, q.options().dtype(at::kFloat));
    forward_pieces(q, k, v, shape, out, logsum);
    ctx->save_for_backward({q, k, v, out, logsum});
    ctx->saved_data["bounds"] = shape.bounds;
    ctx->saved_data["causal"] = shape.causal;
    ctx->saved_data["chunk"] = shape.chunk;
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grad_outputs) {
    const variable_list tensors = ctx->get_saved_variables();
    const Saved saved{tensors[0], tensors[1], tensors[2], tensors[3], tensors[4]};
    AttentionShape shape;
    shape.bounds = ctx->saved_data["bounds"].toIntVector();
    shape.causal = ctx->saved_data["causal"].toBool();
    shape.chunk = ctx->saved_data["chunk"].toInt();
    const at::Tensor grad_out = grad_outputs[0].contiguous();
    Gradients grads{at::empty(saved.q.sizes(), saved.q.options()),
                    at::empty(saved.k.sizes(), saved.k.options()),
                    at::empty(saved.v.sizes(), saved.v.options())};
    const at::Tensor future = future_of(shape, saved.q);
    for_each_block(saved.q, saved.k, shape,
                   [&](const Group& group, const Block& block, const std::vector<Strip>& strips) {
                     backward_block(saved, grad_out, group, block, strips, future, grads);
                   });
    return {grads.q, grads.k, grads.v, at::Tensor()};
  }
};

// Sequences of a group side by side: sequences x heads x length x size.
at::Tensor side_by_side(const at::Tensor& packed, const Group& group, int64_t repeats) {
  const at::Tensor heads = packed.narrow(0, group.first, group.count * group.length)
                               .view({group.count, group.length, packed.size(1), packed.size(2)})
                               .transpose(1, 2);
  return repeats == 1 ? heads : heads.repeat_interleave(repeats, 1);
}

// Without a mask, which would make it choose the path that stores scores.
at::Tensor attend_by_library(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const AttentionShape& shape) {
  const int64_t shared = q.size(1) / k.size(1);
  // Kernels for GPUs that take fp32 want a key head for each query head; the CPU's shares them.
  const bool is_cpu = q.is_cpu();
  const int64_t repeats = is_cpu ? 1 : shared;
  std::vector<at::Tensor> parts;
  for (const Group& group : groups_of(shape.bounds)) {
    const at::Tensor part = at::scaled_dot_product_attention(
        side_by_side(q, group, 1), side_by_side(k, group, repeats), side_by_side(v, group, repeats),
        {}, 0.0, shape.causal, std::nullopt, is_cpu && shared > 1);
    parts.push_back(part.transpose(1, 2).reshape({-1, q.size(1), q.size(2)}));
  }
  return parts.size() == 1 ? parts.front().contiguous() : at::cat(parts, 0);
}

}  // namespace

std::vector<int64_t> lengthened(std::vector<int64_t> bounds, int64_t more) {
  if (more > 0) {
    bounds.push_back(bounds.back() + more);
  }
  return bounds;
}

at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const AttentionShape& shape) {
  if (q.is_cpu() &&
      (q.scalar_type() == at::kFloat ||
       (q.scalar_type() == at::kBFloat16 && matrix_products_have_tiles(at::kBFloat16)))) {
    return ChunkedAttention::apply(q, k, v, shape);
  }
  return attend_by_library(q, k, v, shape);
}

}  // namespace plateau::train
