// SPDX-License-Identifier: Apache-2.0
// For tests of the loop: a model of a few lines, batches of a list, and values out of tensors. No
// torch header, so that tests compile quickly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "trainer/data/loader.h"
#include "trainer/model/learner.h"

namespace plateau::train {

// An embedding and a linear layer that guess the next token.
struct ToyOptions {
  int64_t vocabulary = 96;
  int64_t width = 64;  // Large enough for 8-bit states of both matrices.
  double dropout = 0;
  uint64_t seed = 1;
  int64_t poison = -1;  // A token whose loss is NaN.
};
std::unique_ptr<Learner> make_toy(const ToyOptions& options);

Tensor tensor_with(const std::vector<float>& values, const std::vector<int64_t>& shape);
std::vector<float> values_in(const Tensor& tensor);
// All trained values, one after the other.
std::vector<float> weights_in(Learner& learner);

// Examples of different lengths, the same in every process. Batch b of epoch e has the rows of a
// shuffled order; with several processes each takes every world-th row of it.
class ListSource final : public BatchSource {
 public:
  struct Options {
    int64_t examples = 24;
    int64_t batch_size = 2;
    int64_t rank = 0;
    int64_t world = 1;
    int64_t vocabulary = 96;
    std::optional<size_t> poisoned;  // Example that holds the token `poison`.
    int64_t poison = 7;
    int64_t fails_at = -1;    // Example whose batch is an error.
    int64_t skipped_at = -1;  // Batch that comes without rows.
  };
  explicit ListSource(Options options) : options_(options) {}

  void start(int64_t epoch, int64_t batch) override {
    order_.resize(static_cast<size_t>(options_.examples));
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::mt19937_64 generator(static_cast<uint64_t>(epoch));
    std::shuffle(order_.begin(), order_.end(), generator);
    next_ = batch;
  }

  Result<std::optional<Batch>> next() override {
    if (next_ >= batches_per_epoch()) return std::optional<Batch>();
    const int64_t at = next_++;
    Batch batch;
    if (at == options_.skipped_at) return std::optional<Batch>(batch);
    std::vector<std::vector<int64_t>> rows;
    for (int64_t row = options_.rank; row < options_.batch_size; row += options_.world) {
      const int64_t index = at * options_.batch_size + row;
      if (index >= options_.examples) break;
      const size_t example = order_[static_cast<size_t>(index)];
      if (static_cast<int64_t>(example) == options_.fails_at) {
        return Error{Error::Kind::bad_input, "list line " + std::to_string(example + 1) + ": bad"};
      }
      batch.examples.push_back(example);
      rows.push_back(tokens_of(example));
    }
    fill(batch, rows);
    return std::optional<Batch>(std::move(batch));
  }

  [[nodiscard]] int64_t batches_per_epoch() const override {
    return (options_.examples + options_.batch_size - 1) / options_.batch_size;
  }

 private:
  [[nodiscard]] std::vector<int64_t> tokens_of(size_t example) const {
    std::mt19937_64 generator(1000 + example);
    // Words follow each other in a pattern that can be learned.
    std::vector<int64_t> tokens(3 + generator() % 9);
    tokens[0] = 8 + static_cast<int64_t>(generator() % 40);
    for (size_t i = 1; i < tokens.size(); ++i) tokens[i] = 8 + (tokens[i - 1] * 5 + 3) % 40;
    if (options_.poisoned == example) tokens[0] = options_.poison;
    return tokens;
  }

  static void fill(Batch& batch, const std::vector<std::vector<int64_t>>& rows) {
    batch.rows = static_cast<int64_t>(rows.size());
    for (const auto& row : rows) {
      batch.columns = std::max(batch.columns, static_cast<int64_t>(row.size()));
    }
    for (const auto& row : rows) {
      for (size_t i = 0; i < static_cast<size_t>(batch.columns); ++i) {
        const bool is_token = i < row.size();
        batch.ids.push_back(is_token ? row[i] : 0);
        batch.labels.push_back(is_token ? row[i] : kNoLabel);
        batch.mask.push_back(is_token ? 1 : 0);
        batch.tokens += is_token ? 1 : 0;
        batch.labelled += is_token && i > 0 ? 1 : 0;
      }
    }
  }

  Options options_;
  std::vector<size_t> order_;
  int64_t next_ = 0;
};

}  // namespace plateau::train
