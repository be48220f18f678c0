// SPDX-License-Identifier: Apache-2.0
// Every reader of a format, as one program under many names: fuzz_nvidia_smi reads "nvidia-smi". As
// fuzz_import it is the whole door: decompression, recognition, then whichever reader fits.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "framed_fuzz.h"
#include "import/encode_for_test.h"
#include "import_fuzz.h"

namespace {

std::string format;

// Bytes as the format frames them, where it has frames; empty for the others.
std::string framed(const uint8_t* data, size_t size) {
  std::string file;
  if (format == "wandb-run") {
    file = plateau::testing_bytes::wandb_file(plateau::cut_into_records(data, size));
  } else if (format == "tensorboard") {
    for (const std::string& record : plateau::cut_into_records(data, size)) {
      file += plateau::testing_bytes::tfrecord(record);
    }
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  const std::string_view program = (*argv)[0];
  const std::string_view prefix = "fuzz_";
  const size_t at = program.rfind(prefix);
  if (at != std::string_view::npos) format = program.substr(at + prefix.size());
  std::replace(format.begin(), format.end(), '_', '-');
  if (format == "import") format = "auto";
  const auto& known = plateau::import_formats();
  const bool found = std::any_of(known.begin(), known.end(), [](const plateau::FormatInfo& info) {
    return info.name == format;
  });
  if (format != "auto" && !found) {
    std::fprintf(stderr, "no format is called '%s'\n", format.c_str());
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  plateau::fuzz_import(data, size, format.c_str());
  const std::string file = framed(data, size);
  if (!file.empty()) {
    plateau::fuzz_import(reinterpret_cast<const uint8_t*>(file.data()), file.size(),
                         format.c_str());
  }
  return 0;
}
