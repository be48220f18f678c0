// SPDX-License-Identifier: Apache-2.0
// The reader of the format "tensorboard".
#include "framed_fuzz.h"
#include "import/encode_for_test.h"
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  plateau::fuzz_import(data, size, "tensorboard");
  std::string framed;
  for (const std::string& record : plateau::cut_into_records(data, size)) {
    framed += plateau::testing_bytes::tfrecord(record);
  }
  plateau::fuzz_import(reinterpret_cast<const uint8_t*>(framed.data()), framed.size(),
                       "tensorboard");
  return 0;
}
