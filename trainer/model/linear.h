// SPDX-License-Identifier: Apache-2.0
// Linear layers whose weights stay as they are stored, with a low-rank adapter beside them.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>

#include "trainer/device/kernels.h"
#include "trainer/model/functions.h"

namespace plateau::train {

// A matrix that is not trained: rows x columns in fp32 or bf16 (possibly in a mapped file), or NF4.
// Copies share the weights. A product is in the type of what comes in, fp32 or bf16; weights of
// another type are converted kPieceValues at a time.
class StoredMatrix {
 public:
  static constexpr int64_t kPieceValues = int64_t{1} << 22;  // 16 MiB as fp32.

  StoredMatrix() = default;
  explicit StoredMatrix(at::Tensor dense);  // Two dimensions; fp32 or bf16.
  explicit StoredMatrix(std::shared_ptr<const Nf4Matrix> packed);

  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t columns() const { return columns_; }
  [[nodiscard]] int64_t bytes() const;
  [[nodiscard]] bool defined() const { return rows_ > 0; }

  // x W' + bias (which may be undefined), and y W. `x` and `y` are tokens x columns or rows.
  [[nodiscard]] at::Tensor times_transposed(const at::Tensor& x, const at::Tensor& bias) const;
  [[nodiscard]] at::Tensor times(const at::Tensor& y) const;
  // Chosen rows: an embedding.
  [[nodiscard]] at::Tensor pick(const at::Tensor& row_ids, at::ScalarType type) const;
  // Rows [first, last); a view where they are stored so.
  [[nodiscard]] at::Tensor widen(int64_t first, int64_t last, at::ScalarType type) const;
  [[nodiscard]] at::Tensor widen_all() const { return widen(0, rows_, at::kFloat); }

 private:
  at::Tensor dense_;
  std::shared_ptr<const Nf4Matrix> packed_;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
};

// y = x W' + bias + scaling * dropout(x) A' B', in the type of x. Either `stored` (frozen) or
// `weight` (trained) is set; bias and the adapter may be undefined. All but `stored` is fp32, and
// so are the gradients of it; a product in bf16 takes copies.
//
// With `magnitude` (DoRA) row i of W + scaling B A is brought to the length magnitude[i] before it
// is used; no gradient goes through the length that it has, as in PEFT. Requires: no dropout then.
//
// Kept for the way back: nothing of a frozen layer without an adapter; with one, x (unless it is
// made again), x A' and, if there is dropout, one byte for each value of x; with `magnitude` also
// the product before it is scaled. Requires: the layer outlives the graph.
struct Linear {
  StoredMatrix stored;
  at::Tensor weight;
  at::Tensor bias;
  at::Tensor lora_a;     // rank x columns.
  at::Tensor lora_b;     // rows x rank.
  at::Tensor magnitude;  // rows; undefined: plain LoRA.
  double scaling = 0;
  double dropout = 0;

  [[nodiscard]] at::Tensor apply(const Remade& x, bool is_training) const;
  [[nodiscard]] at::Tensor apply(const at::Tensor& x, bool is_training) const {
    return apply(Remade{x, {}}, is_training);
  }
  // Of the rows of W + scaling B A, kPieceValues of it at a time, without a graph.
  [[nodiscard]] at::Tensor row_lengths() const;
};

// The sum of the cross-entropies of softmax(hidden head') at `targets`, `chunk` tokens at a time:
// logits of one chunk exist, in one tensor, in fp32 whatever `hidden` is. Above a frozen head the
// gradient by `hidden` is made on the way forward, in the same pass over the logits; a trained head
// computes them again on the way back. Either `stored` or `weight` is the head.
at::Tensor head_loss(const at::Tensor& hidden, const Linear& head, const at::Tensor& targets,
                     int64_t chunk);

}  // namespace plateau::train
