// SPDX-License-Identifier: Apache-2.0
#include "import/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "import/byte_source.h"
#include "import/figure_sources.h"
#include "import/folder_listing.h"
#include "import/line_reader.h"

namespace plateau {
namespace {

// What a folder turned out to be.
struct FolderKind {
  std::string_view format;  // As in import_formats().
  const FigureFormat* figures;
  std::vector<RunFiles> (*find)(const FolderListing&);
};

constexpr FolderKind kKinds[] = {
    {"mlflow", &kMlflow, find_mlflow_runs},
    {"wandb-run", &kWandbLog, find_wandb_runs},
    {"tensorboard", &kTensorboard, find_tensorboard_runs},
};

void join(FigureAccount& all, const FigureAccount& one) {
  all.records += one.records;
  if (one.trouble.empty() || all.trouble.size() > 400) return;
  all.trouble += fmt::format("{}{}", all.trouble.empty() ? "" : "; ", one.trouble);
}

std::unique_ptr<LineReader> open_lines(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = open_file(path, {});
  if (!source) return nullptr;
  return std::make_unique<LineReader>(decompress_if_needed(std::move(source.value())));
}

FigureAccount add_file(const RunFile& file, LineReader& input, FigureTable& table) {
  switch (file.kind) {
    case RunFileKind::mlflow_metric:
      return add_mlflow_metric(input, file.name, table);
    case RunFileKind::wandb_log:
      return add_wandb_log(input, table);
    case RunFileKind::wandb_lines:
      return add_wandb_lines(input, table);
    case RunFileKind::events:
      return add_tensorboard(input, table);
  }
  return {};
}

// MLflow: the steps of the metric that was logged most often are the clock of the machine's
// samples.
void add_clock(const RunFiles& run, FigureTable& table) {
  const RunFile* largest = nullptr;
  for (const RunFile& file : run.files) {
    if (file.kind != RunFileKind::mlflow_metric || file.name.starts_with("system/")) continue;
    if (largest == nullptr || file.size > largest->size) largest = &file;
  }
  if (largest == nullptr) return;
  const std::unique_ptr<LineReader> input = open_lines(largest->path);
  if (input) add_mlflow_clock(*input, table);
}

struct Span {
  double from_s = kMissing;
  double to_s = kMissing;
};

// Whether files of one folder were written at the same time: then by several processes.
bool overlap(std::vector<Span> spans) {
  std::erase_if(spans, [](const Span& span) { return std::isnan(span.from_s); });
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.from_s < b.from_s; });
  for (size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].from_s < spans[i - 1].to_s) return true;
  }
  return false;
}

// "1790000000.host.4711.0" of "events.out.tfevents.1790000000.host.4711.0".
std::string_view writer_of(std::string_view file) {
  static constexpr std::string_view kPrefix = "events.out.tfevents.";
  return file.starts_with(kPrefix) ? file.substr(kPrefix.size()) : file;
}

FigureAccount add_run(const RunFiles& run, FigureTable& table, bool apart,
                      std::vector<Span>* spans) {
  FigureAccount account;
  for (const RunFile& file : run.files) {
    const std::unique_ptr<LineReader> input = open_lines(file.path);
    if (!input) {
      join(account, {.records = 0, .trouble = fmt::format("cannot open {}", file.name)});
      continue;
    }
    if (apart) table.process(writer_of(file.name));
    table.begin_span();
    join(account, add_file(file, *input, table));
    if (input->error()) {
      join(account,
           {.records = 0, .trouble = fmt::format("{}: {}", file.name, input->error()->message)});
    }
    if (spans != nullptr) spans->push_back({table.span_from_s(), table.span_to_s()});
  }
  add_clock(run, table);
  return account;
}

Result<Runs> read_run(const RunFiles& run, const FigureFormat& format) {
  FigureTable table;
  std::vector<Span> spans;
  FigureAccount account = add_run(run, table, false, &spans);
  const bool events = !run.files.empty() && run.files.front().kind == RunFileKind::events;
  if (!events || !overlap(spans)) return runs_of(table, account, format);
  FigureTable by_file;
  account = add_run(run, by_file, true, nullptr);
  return runs_of(by_file, account, format);
}

// "run 2 of 3" of the folder, or of what stands in one run: both where there are both.
void name_runs(const RunFiles& folder, bool several, Runs& runs) {
  for (Run& run : runs) {
    if (!several) continue;
    run.title = run.title.empty() ? folder.name : folder.name + ", " + run.title;
  }
}

double last_moment(const Runs& runs) {
  double last = -1;
  for (const Run& run : runs) {
    for (const Instant& at : run.instants) last = at.time_s > last ? at.time_s : last;
  }
  return last;
}

Result<Runs> read_runs(const std::string& path, const std::vector<RunFiles>& folders,
                       const FigureFormat& format) {
  std::vector<std::pair<double, Runs>> found;
  std::string first_trouble;
  for (const RunFiles& folder : folders) {
    Result<Runs> runs = read_run(folder, format);
    if (runs && runs.value().empty()) continue;
    if (!runs) {
      if (first_trouble.empty()) first_trouble = runs.error().message;
      continue;
    }
    name_runs(folder, folders.size() > 1, runs.value());
    const double last = last_moment(runs.value());
    found.emplace_back(last, std::move(runs.value()));
  }
  if (found.empty()) {
    return Error{Error::Kind::no_samples, fmt::format("{} {}", path, first_trouble)};
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Runs all;
  for (auto& [last, runs] : found) std::move(runs.begin(), runs.end(), std::back_inserter(all));
  for (Run& run : all) run.source = path;
  if (found.size() < folders.size()) {
    all.back().notes.push_back(fmt::format("{} of {} runs in this folder hold no memory figures",
                                           folders.size() - found.size(), folders.size()));
  }
  return all;
}

// A project may keep its runs in several ways; only one is read.
void note_other_kinds(const FolderKind& taken, const FolderListing& listing, Run& run) {
  for (const FolderKind& kind : kKinds) {
    if (&kind == &taken || kind.find(listing).empty()) continue;
    run.notes.push_back(
        fmt::format("the folder also holds runs of format {}, which were not read", kind.format));
  }
}

}  // namespace

Result<Runs> read_run_folder(const std::string& path, const ImportOptions& options) {
  const FolderListing listing = list_folder(path);
  const bool any = options.format.empty() || options.format == "auto";
  for (const FolderKind& kind : kKinds) {
    if (!any && options.format != kind.format) continue;
    const std::vector<RunFiles> folders = kind.find(listing);
    if (folders.empty()) continue;
    Result<Runs> runs = read_runs(path, folders, *kind.figures);
    if (runs && any) note_other_kinds(kind, listing, runs.value().back());
    return runs;
  }
  if (!any) {
    return Error{Error::Kind::no_samples,
                 fmt::format("{} is a folder, and none of format '{}'", path, options.format)};
  }
  return Error{
      Error::Kind::no_samples,
      fmt::format("{} is a folder without runs: neither MLflow's (meta.yaml beside metrics/), nor "
                  "Weights & Biases' (*.wandb, wandb-events.jsonl), nor TensorBoard's "
                  "(*tfevents*){}",
                  path, listing.cut ? "; it is large, and only its beginning was looked at" : "")};
}

}  // namespace plateau
