// SPDX-License-Identifier: Apache-2.0
// Whose matrix product LibTorch uses. Debian's is whatever libblas.so.3 points to, and the
// reference one, which is there if nobody chose, is 10 to 30 times slower than OpenBLAS.
#pragma once

#include <cstdint>
#include <string>

namespace plateau::train {

struct BlasInUse {
  std::string library;        // The file that has it, links followed; "built in" if it is hidden.
  bool is_reference = false;  // No sign of OpenBLAS, MKL, BLIS or ATLAS: warn.
};
BlasInUse blas_in_use();

// Of LibTorch and, which does not follow it, of OpenBLAS. Call before the first computation.
void set_threads(int64_t threads);

}  // namespace plateau::train
