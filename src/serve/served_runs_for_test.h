// SPDX-License-Identifier: Apache-2.0
// For tests: a directory with recordings of invented jobs.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "recording/recording.h"

namespace plateau {

// Removed with all it holds.
class RunDirectory {
 public:
  RunDirectory() {
    std::string name = testing::TempDir() + "plateau-serve-test-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~RunDirectory() { std::filesystem::remove_all(path_); }
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Writes steps one after the other; the file is live until finish().
class InventedJob {
 public:
  InventedJob(const std::string& path, double mb_per_step)
      : writer_(std::move(RecordingWriter::create(path, {.command = "python train.py",
                                                         .host = "here",
                                                         .plateau_version = "test",
                                                         .started_unix_s = 1.7e9})
                              .value())),
        mb_per_step_(mb_per_step) {
    const size_t process =
        writer_.process({.id = 4242, .id_is_pid = true, .name = "<script>", .role = Role::main}, 1);
    column_ = writer_.memory_column(process, Metric::anon);
  }

  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      ++step_;
      const double mb = 1000 + mb_per_step_ * step_ + (step_ * 7919) % 13 * 0.1;
      Sample sample{.at = {.step = step_, .time_s = 1.0 * step_}};
      sample.set_kb(column_, static_cast<int64_t>(mb * 1000));
      writer_.row(sample);
    }
  }
  void finish() { writer_.finish({.kind = Ending::Kind::exited, .code = 0}); }

 private:
  RecordingWriter writer_;
  double mb_per_step_;
  size_t column_ = 0;
  int step_ = 0;
};

}  // namespace plateau
