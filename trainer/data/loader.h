// SPDX-License-Identifier: Apache-2.0
// Batches in a fixed order, made ahead of time by worker threads into a bounded queue.
//
// The order of an epoch is a permutation of its seed and number alone, so position p of epoch e is
// the same batch in every run, with any number of workers, and a run can be resumed at any batch.
// Workers decode, resize and tokenise; a batch is freed when the trainer lets go of it. At most
// workers + queue batches exist at once, whatever the dataset holds. Without workers the caller's
// thread does the work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/data/dataset.h"
#include "trainer/data/packs.h"
#include "trainer/image/patches.h"
#include "trainer/text/conversation.h"

namespace plateau::train {

struct Batch {
  int64_t rows = 0;
  int64_t columns = 0;          // Tokens of the longest row; others are padded at the right.
  std::vector<int64_t> ids;     // rows x columns.
  std::vector<int64_t> labels;  // The same; kNoLabel where nothing is learned.
  std::vector<uint8_t> mask;    // The same; 0 is padding.
  std::vector<float> patches;   // All pictures of all rows in order, patch after patch.
  int64_t patch_values = 588;   // Of one patch: 588 for one frame, 1176 for two.
  std::vector<Grid> grids;      // Of every picture.
  std::vector<double> seconds_per_grid;  // Of videos; empty here.
  std::vector<size_t> examples;          // Of the rows.
  // Where in ids a further example of a row begins, ascending; empty: one example a row.
  std::vector<int64_t> starts;
  int64_t labelled = 0;  // Labels that are not kNoLabel, after the shift by one.
  int64_t tokens = 0;    // Not padding.

  [[nodiscard]] int64_t bytes() const;
};

struct LoaderOptions {
  int64_t batch_size = 1;
  int64_t max_seq_length = 2048;  // A longer example is a bad one: it is not cut.
  ProcessorOptions processor;
  LossLevel loss = LossLevel::all;
  uint64_t seed = 42;
  bool shuffle = true;
  bool skip_bad = false;  // Count and report bad examples instead of failing.
  int64_t workers = 0;
  int64_t queue = 2;  // Batches made ahead, besides those that workers are at.
  int64_t pad_token = 0;
  // Data-parallel: of every global batch this process takes its own rows.
  int64_t rank = 0;
  int64_t world = 1;
  // Of this dataset: the rows that batches are made of. Null: every example is a row.
  std::shared_ptr<const Packs> packs;
};

struct BadExample {
  size_t index = 0;
  std::string message;
};

// Rows of `order` become one batch. For tests, evaluation and the plan.
Result<Batch> collate(const Dataset& dataset, const Tokenizer& tokenizer,
                      const LoaderOptions& options, const std::vector<size_t>& rows,
                      std::vector<BadExample>& bad);

// The permutation of an epoch.
std::vector<size_t> epoch_order(size_t examples, uint64_t seed, int64_t epoch, bool shuffle);

// What the training loop takes batches from: the loader, or a list of batches in a test.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Begins at batch `batch` of epoch `epoch`; may be called again.
  virtual void start(int64_t epoch, int64_t batch) = 0;
  // The next batch of the epoch; nothing at its end. An error is one of the data, and names the
  // line. A batch without rows is one whose examples were all skipped.
  virtual Result<std::optional<Batch>> next() = 0;
  [[nodiscard]] virtual int64_t batches_per_epoch() const = 0;  // The last one may be smaller.
};

class Loader final : public BatchSource {
 public:
  // `dataset` and `tokenizer` outlive the loader.
  Loader(const Dataset& dataset, const Tokenizer& tokenizer, LoaderOptions options);
  ~Loader() override;  // Stops and joins the workers.
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  void start(int64_t epoch, int64_t batch) override;
  Result<std::optional<Batch>> next() override;

  [[nodiscard]] int64_t batches_per_epoch() const override;
  [[nodiscard]] const std::vector<BadExample>& skipped() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plateau::train
