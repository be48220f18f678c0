// SPDX-License-Identifier: Apache-2.0
// What batches hold that loaders have made ahead and nobody has taken yet.
#pragma once

#include <cstdint>

namespace plateau::train {

// Of all loaders of the process, in bytes: now, and the most there was at once. Any thread.
struct BatchesAhead {
  int64_t bytes = 0;
  int64_t most_bytes = 0;
};
BatchesAhead batches_ahead();

}  // namespace plateau::train
