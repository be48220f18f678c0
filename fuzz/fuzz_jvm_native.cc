// SPDX-License-Identifier: Apache-2.0
// The reader of the format "jvm-native".
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  plateau::fuzz_import(data, size, "jvm-native");
  return 0;
}
