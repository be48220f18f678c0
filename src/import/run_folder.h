// SPDX-License-Identifier: Apache-2.0
// Folders that hold runs: MLflow's, Weights & Biases', and folders of TensorBoard event files.
//
// What a folder is follows from what stands in it (docs/formats/run-folders.md), looked for in this
// order:
//   MLflow   meta.yaml beside metrics/; a folder of such; metrics/ itself or a folder below it.
//   W&B      a *.wandb, or files/wandb-events.jsonl or wandb-history.jsonl; a folder of such.
//   else     files with "tfevents" in their names, of which those of one folder are one run.
// Each run that holds memory becomes a Run (or several, where its steps start again), in the order
// of their last moments, so the latest run is the last. Links to folders are not followed below the
// one that was named: wandb/latest-run is one of its neighbours.
#pragma once

#include <string>

#include "base/result.h"
#include "import/import.h"
#include "import/readers.h"

namespace plateau {

bool is_folder(const std::string& path);

// Fails with a sentence that says what was looked for, or what stood there instead of memory.
// `options.format` is "auto" or the name of what the folder must be. Requires: is_folder(path).
Result<Runs> read_run_folder(const std::string& path, const ImportOptions& options);

}  // namespace plateau
