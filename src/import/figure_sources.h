// SPDX-License-Identifier: Apache-2.0
// Files whose figures come one by one, each into a FigureTable: what a folder of a run is made of.
// A folder may hold several of them, so each only adds; runs_of() makes the runs.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "import/figure_table.h"
#include "import/line_reader.h"
#include "import/readers.h"

namespace plateau {

struct FigureAccount {
  size_t records = 0;
  std::string trouble;  // For a note; "" if there was none.
};

// How a format is called, and what it calls a figure.
struct FigureFormat {
  std::string_view name;     // Run::format.
  std::string_view what;     // "a TensorBoard event file"
  std::string_view figures;  // "scalars"
};
inline constexpr FigureFormat kTensorboard = {"tensorboard", "a TensorBoard event file", "scalars"};
inline constexpr FigureFormat kWandbLog = {"wandb run", "a Weights & Biases run", "figures"};
inline constexpr FigureFormat kMlflow = {"mlflow run", "an MLflow run", "metrics"};

// What W&B calls MB in its samples of the machine: it divides bytes by 1024 twice.
inline constexpr double kWandbMb = 1.048576;

// What a figure with this name is: as classify_column(), but room on disks is no memory, and of
// torch.cuda.memory_stats(), which Lightning logs whole, only what is allocated or reserved now
// ("allocated_bytes.all.current"): "allocated_bytes.all.allocated" beside it counts what was ever
// allocated, and only grows.
ColumnRole role_of_figure(std::string_view name);

// Adds the scalars of an event file.
FigureAccount add_tensorboard(LineReader& input, FigureTable& table);

// Adds the samples of the machine and what was logged, from run-ID.wandb.
FigureAccount add_wandb_log(LineReader& input, FigureTable& table);
// The same from wandb-events.jsonl or wandb-history.jsonl.
FigureAccount add_wandb_lines(LineReader& input, FigureTable& table);

// Adds a file of MLflow's folder metrics/, if its name there ("system/gpu_0_…") means memory.
FigureAccount add_mlflow_metric(LineReader& input, std::string_view name, FigureTable& table);
// Takes the steps of a metric that is not memory for the clock of the run.
void add_mlflow_clock(LineReader& input, FigureTable& table);
// Whether a file that begins with this line holds a metric.
bool looks_like_mlflow_metric(std::string_view first_line);

// The runs that the table holds. An error that names what was there instead, if no memory was.
Result<Runs> runs_of(FigureTable& table, const FigureAccount& account, const FigureFormat& format);

}  // namespace plateau
