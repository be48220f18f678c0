// SPDX-License-Identifier: Apache-2.0
// How large the examples of a dataset are, without decoding a picture: lines are read and
// tokenised, of pictures only the header.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"
#include "trainer/data/dataset.h"
#include "trainer/data/loader.h"
#include "trainer/plan/plan.h"
#include "trainer/text/tokenizer.h"

namespace plateau::train {

struct DataShapes {
  ExampleShape largest;  // The largest of each figure, not of one example.
  ExampleShape mean;
  size_t looked_at = 0;
  size_t examples = 0;
  size_t bad = 0;             // Left out: unreadable, or longer than allowed.
  int64_t decoded_bytes = 0;  // Of all pictures of all examples, decoded: extrapolated.
};

// Of at most `at_most` examples, spread evenly. Error: not one could be used.
Result<DataShapes> measure_shapes(const Dataset& dataset, const Tokenizer& tokenizer,
                                  const LoaderOptions& options, size_t at_most);

// The rows of a dataset whose examples are packed (--packing).
struct PackedShapes {
  std::shared_ptr<const Packs> packs;
  ExampleShape largest_row;  // The largest of each figure, not of one row.
};

// Every example is read and tokenised, by `threads` threads. Bad ones count as nothing here: who
// reads them will tell.
PackedShapes pack_dataset(const Dataset& dataset, const Tokenizer& tokenizer,
                          const LoaderOptions& options, int64_t threads);

// A row of `most` tokens, filled with examples of this shape.
ExampleShape filled_row(const ExampleShape& example, int64_t most);

}  // namespace plateau::train
