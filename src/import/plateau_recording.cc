// SPDX-License-Identifier: Apache-2.0
// Plateau's own recordings, through the same door as foreign logs.
#include <utility>

#include "import/readers.h"
#include "recording/recording.h"

namespace plateau {

Result<Runs> read_plateau_recording(LineReader& lines) {
  const Result<std::string> bytes = lines.read_all(0);
  if (!bytes.ok()) return bytes.error();
  Result<Run> run = read_recording("", bytes.value());
  if (!run.ok()) return run.error();
  if (run.value().instants.empty()) {
    return Error{Error::Kind::no_samples, "is a recording without a sample"};
  }
  Runs runs;
  runs.push_back(std::move(run.value()));
  return runs;
}

}  // namespace plateau
