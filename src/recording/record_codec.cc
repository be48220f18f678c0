// SPDX-License-Identifier: Apache-2.0
#include "recording/record_codec.h"

#include <array>
#include <cmath>

#include "recording/wire.h"

namespace plateau {
namespace {

constexpr std::array<std::string_view, 12> kTypeNames = {
    "unknown", "head",        "process", "column", "fact",   "note",
    "event",   "events lost", "sample",  "span",   "ending", "heap"};
constexpr std::array<std::string_view, 6> kEndingNames = {"unknown",    "exited", "signaled",
                                                          "oom killed", "left",   "vanished"};
constexpr uint8_t kRoleCount = 7;
constexpr uint8_t kEventKinds = 6;
constexpr uint8_t kGaugeColumn = 255;

}  // namespace

std::string_view record_type_name(uint8_t type) {
  return kTypeNames[type < kTypeNames.size() ? type : 0];
}
std::string_view ending_name(Ending::Kind kind) {
  return kEndingNames[static_cast<size_t>(kind)];
}

std::string encode_head(const HeadRecord& record) {
  std::string out;
  put_varint(out, record.max_rows);
  put_varint(out, record.stride);
  put_double(out, record.head.started_unix_s);
  put_double(out, record.head.interval_s);
  put_text(out, record.head.command);
  put_text(out, record.head.host);
  put_text(out, record.head.plateau_version);
  return out;
}

std::optional<HeadRecord> decode_head(std::string_view payload) {
  WireReader in(payload);
  HeadRecord record;
  record.max_rows = in.varint();
  record.stride = in.varint();
  record.head.started_unix_s = in.real();
  record.head.interval_s = in.real();
  record.head.command = in.text();
  record.head.host = in.text();
  record.head.plateau_version = in.text();
  const auto sane = [](double seconds) { return seconds >= 0 && seconds <= 1e11; };
  if (!in.ok() || record.stride == 0) return std::nullopt;
  if (!sane(record.head.started_unix_s) || !sane(record.head.interval_s)) return std::nullopt;
  return record;
}

std::string encode_process(const ProcessRecord& record) {
  std::string out;
  put_varint(out, record.index);
  put_varint(out, zigzag(record.pid));
  put_varint(out, record.start_ticks);
  put_varint(out, zigzag(record.process.id));
  put_varint(out, zigzag(record.process.parent));
  out.push_back(record.process.id_is_pid ? '\1' : '\0');
  out.push_back(static_cast<char>(record.process.role));
  put_text(out, record.process.name);
  put_text(out, record.process.role_reason);
  return out;
}

std::optional<ProcessRecord> decode_process(std::string_view payload) {
  WireReader in(payload);
  ProcessRecord record;
  record.index = static_cast<size_t>(in.varint());
  record.pid = in.signed_varint();
  record.start_ticks = in.varint();
  record.process.id = in.signed_varint();
  record.process.parent = in.signed_varint();
  record.process.id_is_pid = in.byte() != 0;
  const uint8_t role = in.byte();
  record.process.role = role < kRoleCount ? static_cast<Role>(role) : Role::unknown;
  record.process.name = in.text();
  record.process.role_reason = in.text();
  if (!in.ok()) return std::nullopt;
  return record;
}

std::string encode_column(const RecordedColumn& column) {
  std::string out;
  put_varint(out, column.process);
  out.push_back(
      static_cast<char>(column.is_gauge ? kGaugeColumn : static_cast<uint8_t>(column.metric)));
  if (column.is_gauge) put_text(out, column.name);
  return out;
}

std::optional<RecordedColumn> decode_column(std::string_view payload) {
  WireReader in(payload);
  RecordedColumn column;
  column.process = static_cast<size_t>(in.varint());
  const uint8_t kind = in.byte();
  column.is_gauge = kind == kGaugeColumn;
  if (column.is_gauge) {
    column.name = in.text();
  } else {
    if (kind >= kMetricCount) return std::nullopt;
    column.metric = static_cast<Metric>(kind);
  }
  if (!in.ok()) return std::nullopt;
  return column;
}

std::string encode_fact(const FactRecord& record) {
  std::string out;
  put_varint(out, record.which);
  put_double(out, record.fact.value);
  put_text(out, record.fact.source);
  return out;
}

std::optional<FactRecord> decode_fact(std::string_view payload) {
  WireReader in(payload);
  FactRecord record;
  record.which = static_cast<size_t>(in.varint());
  record.fact.value = in.real();
  record.fact.source = in.text();
  if (!in.ok() || !std::isfinite(record.fact.value)) return std::nullopt;
  return record;
}

std::string encode_event(const EventRecord& record) {
  std::string out;
  put_varint(out, record.serial);
  put_varint(out, static_cast<uint64_t>(whole_ms(record.time_s)));
  out.push_back(static_cast<char>(record.kind));
  put_text(out, record.text);
  return out;
}

std::optional<EventRecord> decode_event(std::string_view payload) {
  WireReader in(payload);
  EventRecord record;
  record.serial = in.varint();
  const uint64_t time_ms = in.varint();
  const uint8_t kind = in.byte();
  record.kind = kind < kEventKinds ? static_cast<EventKind>(kind) : EventKind::mark;
  record.text = in.text();
  if (!in.ok() || time_ms > static_cast<uint64_t>(kMaxTimeMs)) return std::nullopt;
  record.time_s = static_cast<double>(time_ms) / 1000;
  return record;
}

std::string encode_ending(const Ending& ending) {
  std::string out;
  out.push_back(static_cast<char>(ending.kind));
  put_varint(out, zigzag(ending.code));
  put_text(out, ending.text);
  return out;
}

std::optional<Ending> decode_ending(std::string_view payload) {
  WireReader in(payload);
  Ending ending;
  const uint8_t kind = in.byte();
  const int64_t code = in.signed_varint();
  ending.text = in.text();
  if (!in.ok() || code < INT32_MIN || code > INT32_MAX) return std::nullopt;
  // A kind of a later version is an ending all the same, of which nothing more is known.
  ending.kind =
      kind < kEndingNames.size() ? static_cast<Ending::Kind>(kind) : Ending::Kind::unknown;
  ending.code = static_cast<int>(code);
  return ending;
}

std::string encode_heap(const HeapRecord& record) {
  std::string out;
  put_varint(out, zigzag(record.pid));
  put_varint(out, record.number);
  out += record.track;
  return out;
}

std::optional<HeapRecord> decode_heap(std::string_view payload) {
  WireReader in(payload);
  HeapRecord record;
  record.pid = in.signed_varint();
  record.number = in.varint();
  if (!in.ok()) return std::nullopt;
  record.track = in.take(in.left());
  return record;
}

void put_record(std::string& out, RecordType type, std::string_view payload) {
  const size_t begin = out.size();
  out.push_back(static_cast<char>(type));
  put_varint(out, payload.size());
  out += payload;
  put_u32(out, crc32_of(std::string_view(out).substr(begin)));
}

RecordFrame next_frame(std::string_view bytes) {
  WireReader in(bytes);
  RecordFrame frame;
  frame.type = in.byte();
  frame.payload = in.text();
  const size_t covered = in.position();
  const uint32_t crc = in.u32();
  frame.size = in.position();
  if (!in.ok()) {
    frame.trouble = "cut off";
  } else if (crc != crc32_of(bytes.substr(0, covered))) {
    frame.trouble = "checksum differs";
  }
  return frame;
}

}  // namespace plateau
