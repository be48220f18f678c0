// SPDX-License-Identifier: Apache-2.0
// What LibTorch computes with: how many threads.
#pragma once

#include <cstdint>

namespace plateau::train {

// For LibTorch and the BLAS inside it. 0: as many as this process may run at once. Returns how
// many. Call it before the first tensor.
int64_t use_threads(int64_t wanted);

}  // namespace plateau::train
