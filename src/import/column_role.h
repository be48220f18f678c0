// SPDX-License-Identifier: Apache-2.0
// What a CSV column or a JSON key holds, judged by its name alone.
//
// "rss_mb" is memory (rss, MB), "memory.used [MiB]" memory (MiB), "global_step" the step, "t_s" a
// time, "ppid" a parent, "gauge.tensors.cpu" a gauge, "context.examples" a fact. A memory column
// without a unit has unit_mb 0; the reader then guesses it once from the first value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "import/words.h"
#include "recording/facts.h"
#include "recording/run.h"

namespace plateau {

struct ColumnRole {
  enum class Kind : uint8_t {
    ignored,
    step,
    time,
    epoch,
    event,
    process,  // Index, rank or label.
    pid,
    parent,
    name,
    run,
    memory,
    gauge,
    fact,
  };
  Kind kind = Kind::ignored;
  Metric metric = Metric::memory;
  double unit_mb = 0;     // For memory and limits; 0 if the name does not say.
  double time_scale = 1;  // Seconds per unit of the column.
  int rank = 0;           // Among several of one kind the highest is used.
  std::string label;      // The gauge's name, or the column's.
  FactField fact = nullptr;
};

ColumnRole classify_column(std::string_view name);

}  // namespace plateau
