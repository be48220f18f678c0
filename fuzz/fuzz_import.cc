// SPDX-License-Identifier: Apache-2.0
// The whole door: decompression, recognition, then whichever reader fits.
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  plateau::fuzz_import(data, size, "auto");
  return 0;
}
