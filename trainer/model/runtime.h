// SPDX-License-Identifier: Apache-2.0
// What LibTorch computes with: the BLAS it found, and how many threads.
//
// Debian's LibTorch uses whatever libblas.so.3 is; without a hand at it that is the reference
// implementation, some twenty times slower than OpenBLAS, and nothing says so.
#pragma once

#include <cstdint>
#include <string>

namespace plateau::train {

struct BlasInfo {
  std::string library;        // The file that has it, links followed; "built in" if it is hidden.
  bool is_reference = false;  // No sign of OpenBLAS, MKL, BLIS or ATLAS: warn.
};
BlasInfo blas_in_use();

// For LibTorch and OpenBLAS, whose threads are its own. 0: as many as this process may run at once.
// Returns how many. Call it before the first tensor.
int64_t use_threads(int64_t wanted);

}  // namespace plateau::train
