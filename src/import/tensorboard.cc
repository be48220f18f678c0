// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files (events.out.tfevents.*): TFRecords, each an Event with a time, a step
// and a summary of tagged values, of which the scalars that name memory are read.
//
// A scalar is written in one of two ways: as `simple_value`, a float (PyTorch, tensorboardX), or as
// a tensor of one number (TensorFlow 2). A float has 24 bits: bytes in the gigabytes are exact to a
// few hundred, which does not matter here. Which tags are memory is role_of_figure()'s business.
//
// Files of one folder are one run in several pieces, or several writers at the same time; then each
// is a process of its own.
#include <fmt/format.h>

#include <bit>
#include <optional>
#include <string>

#include "import/figure_sources.h"
#include "import/framed_log.h"
#include "import/proto_reader.h"
#include "import/readers.h"

namespace plateau {
namespace {

// Fields of tensorflow.Event, Summary, Summary.Value, TensorProto and TensorShapeProto.
constexpr uint64_t kEventTime = 1;
constexpr uint64_t kEventStep = 2;
constexpr uint64_t kEventSummary = 5;
constexpr uint64_t kSummaryValue = 1;
constexpr uint64_t kValueTag = 1;
constexpr uint64_t kValueSimple = 2;
constexpr uint64_t kValueTensor = 8;
constexpr uint64_t kTensorType = 1;
constexpr uint64_t kTensorContent = 4;
constexpr uint64_t kTensorFloats = 5;
constexpr uint64_t kTensorDoubles = 6;
constexpr uint64_t kTensorInts = 7;
constexpr uint64_t kTensorInt64s = 10;

// tensorflow.DataType.
constexpr int64_t kFloat = 1;
constexpr int64_t kDouble = 2;
constexpr int64_t kInt32 = 3;
constexpr int64_t kInt64 = 9;

struct Tensor {
  int64_t type = 0;
  std::string_view content;        // Numbers as they stand in memory,
  std::string_view packed;         // or packed,
  std::optional<double> unpacked;  // or one by one.
  size_t numbers = 0;
};

// One number of `size` bytes, if there is exactly one.
std::optional<double> only_number(std::string_view bytes, int64_t type) {
  const size_t size = type == kFloat || type == kInt32 ? 4 : 8;
  if (bytes.size() != size) return std::nullopt;
  const uint64_t bits = little_endian(bytes, size);
  if (type == kFloat) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type == kDouble) return std::bit_cast<double>(bits);
  if (type == kInt32) return static_cast<int32_t>(bits);
  return static_cast<double>(static_cast<int64_t>(bits));
}

Tensor read_tensor(std::string_view bytes) {
  Tensor tensor;
  ProtoReader fields(bytes);
  while (fields.next()) {
    switch (fields.number()) {
      case kTensorType:
        tensor.type = fields.integer();
        break;
      case kTensorContent:
        tensor.content = fields.bytes();
        break;
      case kTensorFloats:
      case kTensorDoubles:
        // Packed or not, one number is its bytes.
        tensor.packed = fields.bytes();
        ++tensor.numbers;
        break;
      case kTensorInts:
      case kTensorInt64s:
        ++tensor.numbers;
        tensor.unpacked = static_cast<double>(fields.integer());
        if (!fields.bytes().empty()) {
          WireReader packed(fields.bytes());
          tensor.unpacked = static_cast<double>(static_cast<int64_t>(packed.varint()));
          if (!packed.at_end()) ++tensor.numbers;
        }
        break;
      default:
        break;
    }
  }
  return tensor;
}

// The number of a tensor that holds one.
std::optional<double> scalar_of(std::string_view bytes) {
  const Tensor tensor = read_tensor(bytes);
  const bool known = tensor.type == kFloat || tensor.type == kDouble || tensor.type == kInt32 ||
                     tensor.type == kInt64;
  if (!known) return std::nullopt;
  if (!tensor.content.empty()) return only_number(tensor.content, tensor.type);
  if (tensor.numbers != 1) return std::nullopt;
  return tensor.unpacked ? tensor.unpacked : only_number(tensor.packed, tensor.type);
}

struct Moment {
  double time_s = kMissing;
  int64_t step = 0;  // Not written where it is 0.
};

void read_value(std::string_view bytes, const Moment& at, FigureTable& table) {
  std::string_view tag;
  std::optional<double> value;
  ProtoReader fields(bytes);
  while (fields.next()) {
    if (fields.number() == kValueTag) tag = fields.bytes();
    if (fields.number() == kValueSimple) value = fields.real();
    if (fields.number() == kValueTensor) value = scalar_of(fields.bytes());
  }
  if (!value || tag.empty()) return;
  table.add(table.figure(tag, role_of_figure), at.time_s, at.step, *value);
}

// Time and step may stand after the summary, so they are read first.
void read_event(std::string_view bytes, FigureTable& table) {
  Moment at;
  ProtoReader head(bytes);
  while (head.next()) {
    if (head.number() == kEventTime) at.time_s = head.real();
    if (head.number() == kEventStep) at.step = head.integer();
  }
  ProtoReader fields(bytes);
  while (fields.next()) {
    if (fields.number() != kEventSummary) continue;
    ProtoReader values(fields.bytes());
    while (values.next()) {
      if (values.number() == kSummaryValue) read_value(values.bytes(), at, table);
    }
  }
}

}  // namespace

FigureAccount add_tensorboard(LineReader& input, FigureTable& table) {
  TfRecords records(input);
  std::string_view record;
  while (records.next(record)) read_event(record, table);
  return {.records = records.counts().records, .trouble = describe(records.counts())};
}

Result<Runs> read_tensorboard(LineReader& input) {
  FigureTable table;
  return runs_of(table, add_tensorboard(input, table), kTensorboard);
}

}  // namespace plateau
