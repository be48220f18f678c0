// SPDX-License-Identifier: Apache-2.0
// Whatever stands in config.json: an error with a message, or a model whose sizes fit, whose
// weights can be counted, and that says the same when it is written and read again.
#include "import_fuzz.h"
#include "trainer/store/config_check.h"
#include "trainer/store/weight_names.h"

namespace {

// No product of sizes overflows. Few layers only, or the names would be all that is fuzzed.
void check_shapes(const plateau::train::ModelConfig& config) {
  if (config.layers > 64 || config.vision.depth > 64) return;
  for (const auto& weight : plateau::train::weight_shapes(config)) {
    int64_t elements = 1;
    for (const int64_t size : weight.shape) {
      plateau::require(size > 0 && !__builtin_mul_overflow(elements, size, &elements),
                       "a weight has a size");
    }
    plateau::require(
        plateau::train::hub_name(plateau::train::nested_name(weight.name)) == weight.name,
        "names go there and back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using plateau::require;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto config = plateau::train::parse_model_config(json, "fuzz");
  if (!config.ok()) {
    require(config.error().message.starts_with("fuzz: "), "an error names the file");
    return 0;
  }
  require(!config_contradiction(config.value()), "what is accepted fits together");
  check_shapes(config.value());
  const std::string written = plateau::train::config_json(config.value());
  const auto again = plateau::train::parse_model_config(written, "fuzz");
  require(again.ok(), "what is written can be read");
  require(plateau::train::config_json(again.value()) == written, "and says the same");
  return 0;
}
