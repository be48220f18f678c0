// SPDX-License-Identifier: Apache-2.0
// One function per foreign format. Each reads lines to the end and returns the runs it found, which
// may be none; Run::source is left to the caller. They fail only when the input as a whole cannot
// be what it was taken for (JSON that does not parse). docs/formats/import.md describes each.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "import/line_reader.h"
#include "recording/run.h"

namespace plateau {

using Runs = std::vector<Run>;

Result<Runs> read_plateau_recording(LineReader& lines);
Result<Runs> read_text_log(LineReader& lines);
Result<Runs> read_csv(LineReader& lines);
Result<Runs> read_wandb_csv(LineReader& lines);
Result<Runs> read_nvidia_smi(LineReader& lines);
Result<Runs> read_json_lines(LineReader& lines);
Result<Runs> read_trainer_state(LineReader& lines);
Result<Runs> read_prometheus(LineReader& lines);
Result<Runs> read_mprof(LineReader& lines);
Result<Runs> read_psrecord(LineReader& lines);
Result<Runs> read_ps(LineReader& lines);
Result<Runs> read_free(LineReader& lines);
Result<Runs> read_jvm_native(LineReader& lines);
Result<Runs> read_malloc_info(LineReader& lines);
Result<Runs> read_verbose_gc(LineReader& lines);
Result<Runs> read_pidstat(LineReader& lines);
Result<Runs> read_tensorboard(LineReader& input);
Result<Runs> read_wandb_log(LineReader& input);
Result<Runs> read_mlflow_metric(LineReader& input);
Result<Runs> read_cuda_snapshot(LineReader& input);

// Which of the formats the first bytes of an input are: a name from import_formats(), "text" when
// nothing more special fits.
std::string_view recognise_format(std::string_view head);

// "binary data", "an xz archive", …: what the head of an input is that no reader can use; empty if
// it could be text.
std::string_view describe_foreign(std::string_view head);

}  // namespace plateau
