// SPDX-License-Identifier: Apache-2.0
// The reader of the format "cuda-snapshot".
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  plateau::fuzz_import(data, size, "cuda-snapshot");
  return 0;
}
