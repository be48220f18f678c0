// SPDX-License-Identifier: Apache-2.0
// Whatever stands in a recording: reading and describing it end, and the Run keeps its shape.
#include "import_fuzz.h"
#include "recording/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using plateau::require;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto run = plateau::read_recording("fuzz", bytes);
  for (const bool json : {false, true}) {
    const auto lines = plateau::describe_recording("fuzz", bytes, json);
    require(lines.ok() == run.ok(), "what can be read can be described");
  }
  if (!run.ok()) {
    require(!run.error().message.empty(), "an error has a message");
    return 0;
  }
  require(plateau::check_shape(run.value()).empty(), "the run has its shape");
  double last_s = -1;
  int64_t last_step = -1;
  for (const plateau::Instant& at : run.value().instants) {
    require(at.time_s >= last_s && at.step >= last_step, "time and step never fall");
    last_s = at.time_s;
    last_step = at.step;
  }
  plateau::fuzz_import(data, size, "recording");
  return 0;
}
