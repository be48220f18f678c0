// SPDX-License-Identifier: Apache-2.0
// Curves as a TensorBoard event file that grows while the job runs.
//
// The bytes are those that import/tensorboard.cc reads and docs/formats/run-folders.md describes:
// TFRecords, each an Event of a time, a step and a summary of tagged values. Every event is one
// write() at the end of the file, so that a reader sees whole records and a kill loses none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "curves/curves.h"

namespace plateau {

// One framed record around `event`: length, its checksum, the bytes, theirs.
std::string tf_record(std::string_view event);

// Events as protobuf, for tf_record().
std::string version_event(double unix_s);
std::string scalars_event(double unix_s, int64_t step, const Curves& curves);
// A session that goes on at `step`: what earlier files of the folder say of it and later is void.
std::string session_event(double unix_s, int64_t step);
std::string text_event(double unix_s, int64_t step, std::string_view tag, std::string_view text);

class TensorboardWriter {
 public:
  // Makes the directory if it is not there, and a new file in it: earlier ones stay as they are.
  static Result<TensorboardWriter> create(const std::string& directory, double unix_s);

  // What cannot be written is lost; the first failure is told by trouble().
  void scalars(double unix_s, int64_t step, const Curves& curves);
  void restart(double unix_s, int64_t step);  // As session_event().
  void text(double unix_s, int64_t step, std::string_view tag, std::string_view text);
  // Why nothing is written any more, once; "" if all is well.
  std::string trouble();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TensorboardWriter(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  void append(std::string_view event);

  Fd file_;
  std::string path_;
  std::string trouble_;
};

}  // namespace plateau
