// SPDX-License-Identifier: Apache-2.0
// The reader of the format "wandb-run".
#include "framed_fuzz.h"
#include "import/encode_for_test.h"
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  plateau::fuzz_import(data, size, "wandb-run");
  const std::string framed =
      plateau::testing_bytes::wandb_file(plateau::cut_into_records(data, size));
  plateau::fuzz_import(reinterpret_cast<const uint8_t*>(framed.data()), framed.size(), "wandb-run");
  return 0;
}
