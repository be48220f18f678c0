// SPDX-License-Identifier: Apache-2.0
#include "curves/tensorboard_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/crc32c.h"
#include "base/files.h"
#include "base/printable.h"
#include "recording/wire.h"

namespace plateau {
namespace {

// Fields of tensorflow.Event, Summary, Summary.Value, SummaryMetadata, TensorProto.
constexpr uint64_t kEventTime = 1;
constexpr uint64_t kEventStep = 2;
constexpr uint64_t kEventVersion = 3;
constexpr uint64_t kEventSummary = 5;
constexpr uint64_t kEventSession = 7;
constexpr uint64_t kSessionStatus = 1;
constexpr uint64_t kSessionStart = 1;
constexpr uint64_t kSummaryValue = 1;
constexpr uint64_t kValueTag = 1;
constexpr uint64_t kValueSimple = 2;
constexpr uint64_t kValueTensor = 8;
constexpr uint64_t kValueMetadata = 9;
constexpr uint64_t kMetadataPlugin = 1;
constexpr uint64_t kMetadataClass = 4;
constexpr uint64_t kPluginName = 1;
constexpr uint64_t kTensorType = 1;
constexpr uint64_t kTensorShape = 2;
constexpr uint64_t kTensorStrings = 8;
constexpr uint64_t kShapeDimension = 2;
constexpr uint64_t kDimensionSize = 1;
constexpr uint64_t kString = 7;       // tensorflow.DataType
constexpr uint64_t kClassTensor = 2;  // tensorflow.DataClass

// How a field is written; the number before it says which.
constexpr uint64_t kVarint = 0;
constexpr uint64_t kEight = 1;
constexpr uint64_t kBytes = 2;
constexpr uint64_t kFour = 5;

void key(std::string& out, uint64_t field, uint64_t how) {
  put_varint(out, field << 3 | how);
}
void integer(std::string& out, uint64_t field, uint64_t value) {
  key(out, field, kVarint);
  put_varint(out, value);
}
void bytes(std::string& out, uint64_t field, std::string_view text) {
  key(out, field, kBytes);
  put_text(out, text);
}
void u64(std::string& out, uint64_t value) {
  put_u32(out, static_cast<uint32_t>(value));
  put_u32(out, static_cast<uint32_t>(value >> 32));
}

std::string head_of_event(double unix_s, int64_t step) {
  std::string event;
  key(event, kEventTime, kEight);
  put_double(event, unix_s);
  if (step != 0) integer(event, kEventStep, static_cast<uint64_t>(step));
  return event;
}

std::string host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

std::string tf_record(std::string_view event) {
  std::string record;
  u64(record, event.size());
  put_u32(record, masked_crc32c(record));
  record += event;
  put_u32(record, masked_crc32c(event));
  return record;
}

std::string version_event(double unix_s) {
  std::string event = head_of_event(unix_s, 0);
  bytes(event, kEventVersion, "brain.Event:2");
  return event;
}

std::string scalars_event(double unix_s, int64_t step, const Curves& curves) {
  std::string summary;
  for (const auto& [name, value] : curves) {
    std::string one;
    bytes(one, kValueTag, name);
    key(one, kValueSimple, kFour);
    put_u32(one, std::bit_cast<uint32_t>(static_cast<float>(value)));
    bytes(summary, kSummaryValue, one);
  }
  std::string event = head_of_event(unix_s, step);
  bytes(event, kEventSummary, summary);
  return event;
}

std::string session_event(double unix_s, int64_t step) {
  std::string session;
  integer(session, kSessionStatus, kSessionStart);
  std::string event = head_of_event(unix_s, step);
  bytes(event, kEventSession, session);
  return event;
}

std::string text_event(double unix_s, int64_t step, std::string_view tag, std::string_view text) {
  std::string plugin;
  bytes(plugin, kPluginName, "text");
  std::string metadata;
  bytes(metadata, kMetadataPlugin, plugin);
  integer(metadata, kMetadataClass, kClassTensor);
  std::string dimension;
  integer(dimension, kDimensionSize, 1);
  std::string shape;
  bytes(shape, kShapeDimension, dimension);
  std::string tensor;
  integer(tensor, kTensorType, kString);
  bytes(tensor, kTensorShape, shape);
  bytes(tensor, kTensorStrings, text);
  std::string value;
  bytes(value, kValueTag, tag);
  bytes(value, kValueTensor, tensor);
  bytes(value, kValueMetadata, metadata);
  std::string summary;
  bytes(summary, kSummaryValue, value);
  std::string event = head_of_event(unix_s, step);
  bytes(event, kEventSummary, summary);
  return event;
}

Result<TensorboardWriter> TensorboardWriter::create(const std::string& directory, double unix_s) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  const std::string path = fmt::format("{}/events.out.tfevents.{:.0f}.{}.{}.plateau", directory,
                                       unix_s, host(), getpid());
  Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file) {
    return Error{Error::Kind::not_found,
                 fmt::format("cannot write into {}: {}", printable(directory), strerror(errno))};
  }
  TensorboardWriter writer(std::move(file), path);
  writer.append(version_event(unix_s));
  return writer;
}

void TensorboardWriter::append(std::string_view event) {
  if (!file_) return;
  const int error = write_all(file_.get(), tf_record(event));
  if (error == 0) return;
  trouble_ = fmt::format("cannot write to {}: {}; no more curves are written", printable(path_),
                         strerror(error));
  file_.reset();
}

void TensorboardWriter::scalars(double unix_s, int64_t step, const Curves& curves) {
  if (!curves.empty()) append(scalars_event(unix_s, step, curves));
}

void TensorboardWriter::restart(double unix_s, int64_t step) {
  append(session_event(unix_s, step));
}

void TensorboardWriter::text(double unix_s, int64_t step, std::string_view tag,
                             std::string_view text) {
  append(text_event(unix_s, step, tag, text));
}

std::string TensorboardWriter::trouble() {
  return std::exchange(trouble_, "");
}

}  // namespace plateau
