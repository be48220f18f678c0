// SPDX-License-Identifier: Apache-2.0
#include "import/folder_listing.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "import/byte_source.h"
#include "import/figure_sources.h"
#include "import/line_reader.h"
#include "import/run_folder.h"

namespace plateau {
namespace {

namespace fs = std::filesystem;

std::string_view last_part(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string shown(std::string_view folder) {
  return folder.empty() ? "." : std::string(folder);
}

std::string full_path(const FolderListing& listing, std::string_view name) {
  return (fs::path(listing.path) / name).string();
}

// Runs by their folders.
using RunMap = std::map<std::string, RunFiles>;

RunFiles& run_named(RunMap& runs, std::string_view folder) {
  RunFiles& run = runs[shown(folder)];
  if (run.name.empty()) run.name = shown(folder);
  return run;
}

std::vector<RunFiles> in_order(RunMap& runs) {
  std::vector<RunFiles> list;
  for (auto& [name, run] : runs) list.push_back(std::move(run));
  return list;
}

// Whether the file begins like one of MLflow's metrics.
bool holds_metric(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = open_file(path, {});
  if (!source) return false;
  LineReader input(std::move(source.value()));
  std::string_view line;
  return input.next(line) && looks_like_mlflow_metric(line);
}

// A folder metrics/ that was named itself, or one below it: its place is told by the path.
std::vector<RunFiles> find_bare_metrics(const FolderListing& listing) {
  std::error_code error;
  const std::string whole = fs::absolute(listing.path, error).lexically_normal().string();
  const std::string path = whole.ends_with('/') ? whole.substr(0, whole.size() - 1) : whole;
  static constexpr std::string_view kMetrics = "/metrics";
  const size_t at = path.rfind(kMetrics);
  if (error || at == std::string::npos || listing.files.empty()) return {};
  const std::string_view below = std::string_view(path).substr(at + kMetrics.size());
  if (!below.empty() && below.front() != '/') return {};
  if (!holds_metric(full_path(listing, listing.files.front().name))) return {};
  const std::string prefix = below.empty() ? "" : std::string(below.substr(1)) + "/";
  RunFiles run{".", {}};
  for (const ListedEntry& file : listing.files) {
    run.files.push_back(
        {full_path(listing, file.name), prefix + file.name, RunFileKind::mlflow_metric, file.size});
  }
  return {run};
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code error;
  return path != "-" && fs::is_directory(path, error);
}

FolderListing list_folder(const std::string& path) {
  FolderListing listing{path, {}, false};
  std::error_code error;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  size_t entries = 0;
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (++entries > FolderListing::kMaxEntries) {
      listing.cut = true;
      break;
    }
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      // MLflow keeps what was deleted in .trash.
      if (last_part(at->path().native()) == ".trash") at.disable_recursion_pending();
      if (at.depth() + 1 >= FolderListing::kMaxDepth) {
        at.disable_recursion_pending();
        listing.cut = true;
      }
      continue;
    }
    if (!at->is_regular_file(ignored)) continue;
    ListedEntry file;
    file.name = at->path().lexically_relative(path).generic_string();
    file.folder = parent_of(file.name);
    const uintmax_t size = at->file_size(ignored);
    file.size = ignored ? 0 : size;
    listing.files.push_back(std::move(file));
  }
  std::sort(listing.files.begin(), listing.files.end(),
            [](const ListedEntry& a, const ListedEntry& b) { return a.name < b.name; });
  return listing;
}

std::vector<RunFiles> find_mlflow_runs(const FolderListing& listing) {
  static constexpr std::string_view kMetrics = "metrics/";
  std::vector<RunFiles> runs;
  for (const ListedEntry& meta : listing.files) {
    if (last_part(meta.name) != "meta.yaml") continue;
    const std::string prefix =
        (meta.folder.empty() ? "" : meta.folder + "/") + std::string(kMetrics);
    auto file = std::lower_bound(
        listing.files.begin(), listing.files.end(), prefix,
        [](const ListedEntry& entry, const std::string& name) { return entry.name < name; });
    RunFiles run{shown(meta.folder), {}};
    for (; file != listing.files.end() && file->name.starts_with(prefix); ++file) {
      run.files.push_back({full_path(listing, file->name), file->name.substr(prefix.size()),
                           RunFileKind::mlflow_metric, file->size});
    }
    if (!run.files.empty()) runs.push_back(std::move(run));
  }
  return runs.empty() ? find_bare_metrics(listing) : runs;
}

std::vector<RunFiles> find_wandb_runs(const FolderListing& listing) {
  RunMap runs;
  for (const ListedEntry& file : listing.files) {
    const std::string_view name = last_part(file.name);
    const bool lines = name == "wandb-events.jsonl" || name == "wandb-history.jsonl";
    if (!lines && !name.ends_with(".wandb")) continue;
    // In older versions, and in the folder files/ of newer ones.
    const bool in_files = last_part(file.folder) == "files";
    RunFiles& run = run_named(runs, in_files ? parent_of(file.folder) : file.folder);
    run.files.push_back({full_path(listing, file.name), std::string(name),
                         lines ? RunFileKind::wandb_lines : RunFileKind::wandb_log, file.size});
  }
  return in_order(runs);
}

std::vector<RunFiles> find_tensorboard_runs(const FolderListing& listing) {
  RunMap runs;
  for (const ListedEntry& file : listing.files) {
    const std::string_view name = last_part(file.name);
    if (name.find("tfevents") == std::string_view::npos) continue;
    run_named(runs, file.folder)
        .files.push_back(
            {full_path(listing, file.name), std::string(name), RunFileKind::events, file.size});
  }
  return in_order(runs);
}

}  // namespace plateau
