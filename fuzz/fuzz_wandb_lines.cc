// SPDX-License-Identifier: Apache-2.0
// The reader of wandb-events.jsonl and wandb-history.jsonl, which are read in folders only.
#include "import/figure_sources.h"
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  plateau::LineReader input(plateau::open_memory(bytes, {}));
  plateau::FigureTable table;
  const plateau::FigureAccount account = plateau::add_wandb_lines(input, table);
  const auto runs = plateau::runs_of(table, account, plateau::kWandbLog);
  if (!runs.ok()) return 0;
  for (const plateau::Run& run : runs.value()) {
    plateau::require(plateau::check_shape(run).empty(), "every run has its shape");
  }
  return 0;
}
