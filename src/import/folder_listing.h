// SPDX-License-Identifier: Apache-2.0
// The files below a folder, and which of them make up runs. Looks at names, except where only the
// content tells: nothing here reads figures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plateau {

struct ListedEntry {
  std::string name;    // From the folder down: "0/abc/metrics/system/gpu".
  std::string folder;  // The part before its last '/'; "" for the folder itself.
  uint64_t size = 0;
};

struct FolderListing {
  static constexpr size_t kMaxEntries = 100'000;
  static constexpr int kMaxDepth = 8;

  std::string path;
  std::vector<ListedEntry> files;  // Regular ones, or links to such, by name.
  bool cut = false;                // There are more entries or levels than were looked at.
};
FolderListing list_folder(const std::string& path);

enum class RunFileKind : uint8_t { mlflow_metric, wandb_log, wandb_lines, events };

struct RunFile {
  std::string path;
  std::string name;  // In the run: "system/gpu_0_…" for MLflow, else the last part of the path.
  RunFileKind kind = RunFileKind::events;
  uint64_t size = 0;
};
struct RunFiles {
  std::string name;  // Its folder, from the one that was named down; "." for that itself.
  std::vector<RunFile> files;
};

std::vector<RunFiles> find_mlflow_runs(const FolderListing& listing);
std::vector<RunFiles> find_wandb_runs(const FolderListing& listing);
std::vector<RunFiles> find_tensorboard_runs(const FolderListing& listing);

}  // namespace plateau
