// SPDX-License-Identifier: Apache-2.0
// collate() of loader.h, for the loader's own workers, who must be able to stop in the middle.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "trainer/data/loader.h"

namespace plateau::train {

// Asked before every picture. When it says yes, what is returned means nothing.
using IsCancelled = std::function<bool()>;

// Each of `rows` lists the examples that share it, one after the other.
Result<Batch> collate_until(const Dataset& dataset, const Tokenizer& tokenizer,
                            const LoaderOptions& options,
                            const std::vector<std::vector<size_t>>& rows,
                            std::vector<BadExample>& bad, const IsCancelled& is_cancelled);

// Whether it can be part of a batch. Without `decodes` only the headers of its pictures are read.
Result<std::monostate> check_example(const Dataset& dataset, const Tokenizer& tokenizer,
                                     const LoaderOptions& options, size_t index, bool decodes);

}  // namespace plateau::train
