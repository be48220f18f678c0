// SPDX-License-Identifier: Apache-2.0
// A chart exported from Weights & Biases: "Step" or a time, then one column per run and metric,
// named "<run> - system.proc.memory.rssMB" (or "system/…"), each followed by __MIN and __MAX.
//
// Step and time columns stand before the first run's. Every run name becomes a Run of its own. The
// device's "memoryAllocated" is a percentage there (the amount is "memoryAllocatedBytes"), so
// without a unit it is left out.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "import/csv_fields.h"
#include "import/figure_sources.h"
#include "import/readers.h"
#include "import/record_rows.h"

namespace plateau {
namespace {

struct WandbRun {
  explicit WandbRun(std::string run_name)
      : name(std::move(run_name)), builder("wandb csv"), rows(builder) {}
  std::string name;
  RunBuilder builder;
  RecordRows rows;
};

struct WandbColumn {
  size_t run;  // Index into the runs; kShared for the step and time columns.
  size_t key;
};
constexpr size_t kShared = static_cast<size_t>(-1);
constexpr size_t kMaxWandbRuns = 256;

class WandbReader {
 public:
  void header(const std::vector<std::string_view>& names) {
    std::vector<std::string> shared;
    for (const std::string_view name : names) {
      const size_t dash = name.rfind(" - ");
      if (dash == std::string_view::npos) {
        columns_.push_back({kShared, shared.size()});
        shared.emplace_back(name);
        continue;
      }
      const size_t run = run_of(name.substr(0, dash), shared);
      if (run == kShared) {
        columns_.push_back({0, RunBuilder::kNone});
        continue;
      }
      columns_.push_back({run, add_key(*runs_[run], name.substr(dash + 3))});
    }
  }

  void row(const std::vector<std::string_view>& fields, size_t line) {
    for (const auto& run : runs_) run->rows.begin(line);
    for (size_t i = 0; i < columns_.size() && i < fields.size(); ++i) {
      const WandbColumn& column = columns_[i];
      if (column.run != kShared) {
        if (column.key != RunBuilder::kNone) runs_[column.run]->rows.text(column.key, fields[i]);
      } else if (column.key < announced_) {
        for (const auto& run : runs_) run->rows.text(column.key, fields[i]);
      }
    }
    for (const auto& run : runs_) run->rows.end();
  }

  Runs finish(size_t lines_read) {
    Runs all;
    for (const auto& run : runs_) {
      for (Run& part : run->builder.finish(lines_read)) {
        if (runs_.size() > 1) {
          part.title = part.title.empty() ? run->name : run->name + ", " + part.title;
        }
        all.push_back(std::move(part));
      }
    }
    return all;
  }

 private:
  size_t run_of(std::string_view name, const std::vector<std::string>& shared) {
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i]->name == name) return i;
    }
    if (runs_.size() >= kMaxWandbRuns) return kShared;
    if (runs_.empty()) announced_ = shared.size();
    runs_.push_back(std::make_unique<WandbRun>(std::string(name)));
    for (size_t i = 0; i < announced_; ++i) runs_.back()->rows.add_key(shared[i]);
    return runs_.size() - 1;
  }

  // Key numbers start after the shared columns, which were announced first.
  static size_t add_key(WandbRun& run, std::string_view metric) {
    // "system" here names wandb's group of metrics, not the machine.
    const bool sampled = metric.starts_with("system.") || metric.starts_with("system/");
    if (sampled) metric.remove_prefix(7);
    ColumnRole role = classify_column(metric);
    if (sampled && role.unit_mb == 1) role.unit_mb = kWandbMb;
    const bool device = role.metric == Metric::gpu || role.metric == Metric::gpu_reserved;
    if (role.kind == ColumnRole::Kind::memory && device && role.unit_mb == 0) {
      role.kind = ColumnRole::Kind::ignored;
    }
    // A bare "memory" is a percentage of the machine's.
    if (metric == "memory") role.kind = ColumnRole::Kind::ignored;
    return run.rows.add_role(role, metric);
  }

  std::vector<WandbColumn> columns_;
  std::vector<std::unique_ptr<WandbRun>> runs_;
  size_t announced_ = 0;  // Shared columns before the first run's.
};

}  // namespace

Result<Runs> read_wandb_csv(LineReader& lines) {
  std::string_view line;
  if (!lines.next(line)) return Runs{};
  const std::string header(without_bom(line));
  CsvFields cutter(guess_separator(header) == '\t' ? '\t' : ',');
  WandbReader reader;
  reader.header(cutter.cut(header));
  while (lines.next(line)) {
    if (!trim(line).empty()) reader.row(cutter.cut(line), lines.number());
  }
  return reader.finish(lines.number());
}

}  // namespace plateau
