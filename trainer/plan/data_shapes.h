// SPDX-License-Identifier: Apache-2.0
// How large the examples of a dataset are, without decoding a picture: lines are read and
// tokenised, of pictures only the header.
#pragma once

#include <cstddef>

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

}  // namespace plateau::train
