// SPDX-License-Identifier: Apache-2.0
// Records of a recording and their frame: type, length, payload, checksum.
//
// docs/formats/recording.md explains the file byte by byte. Decoders return nullopt for a payload
// that is not what its type says; bytes after the fields known here are ignored, so that a later
// version may add some. Pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recording/recording.h"
#include "recording/row_codec.h"
#include "recording/run.h"
#include "recording/wire.h"

namespace plateau {

// The first byte is no text, CR LF and LF catch a transfer that rewrote line ends, and 0x1A ends
// the output of a careless `type`.
inline constexpr std::string_view kRecordingMagic = "\x89PLT\r\n\x1a\n";
inline constexpr uint8_t kRecordingVersion = 1;
inline constexpr size_t kRecordingPrefix = 9;  // Magic and version.

enum class RecordType : uint8_t {
  head = 1,
  process = 2,
  column = 3,
  fact = 4,
  note = 5,
  event = 6,
  events_lost = 7,
  sample = 8,
  span = 9,
  ending = 10,
  heap = 11,
  holders = 12,
};
std::string_view record_type_name(uint8_t type);  // "unknown" for others.

struct HeadRecord {
  RecordingHead head;
  uint64_t max_rows = 0;
  uint64_t stride = 1;  // Samples that a merged row may stand for at present.
};

struct ProcessRecord {
  size_t index = 0;  // The next one, or a known one that is described anew.
  int64_t pid = 0;   // As the kernel calls it; `process.id` differs when the pid was reused.
  uint64_t start_ticks = 0;
  Process process;
};

struct EventRecord {
  uint64_t serial = 0;  // Of the sample that comes next.
  double time_s = 0;
  EventKind kind = EventKind::mark;
  std::string text;
};

struct FactRecord {
  size_t which = 0;  // Its place in kFacts; past the end for one of a later version.
  Fact fact;
};

// A process's heap track; the latest one of a pid counts.
struct HeapRecord {
  int64_t pid = 0;
  uint64_t number = 0;     // Which of the pid's tracks this is, from 0.
  std::string_view track;  // As encode_heap_track() gave it; points into the payload.
};

std::string_view ending_name(Ending::Kind kind);  // "exited", "oom killed", ...

// A list of what has fields of its own: how many, at most kMostListed, then each.
inline constexpr uint64_t kMostListed = 64;
template <typename Io, typename Record>
void record_list(Io& io, std::vector<Record>& list) {
  uint64_t count = std::min<uint64_t>(list.size(), kMostListed);
  io(count);
  if (count > kMostListed) return io.fail();
  list.resize(count);
  for (Record& each : list) record_fields(io, each);
}

// The fields of each record, in the order of the file: one list for writing and reading. What a
// reader finds and no writer writes fails; a code of a later version becomes the last argument of
// code().
template <typename Io>
void record_fields(Io& io, HeadRecord& record) {
  RecordingHead& head = record.head;
  io(record.max_rows, record.stride, head.started_unix_s, head.interval_s);
  io(head.command, head.host, head.plateau_version);
  const auto sane = [](double seconds) { return seconds >= 0 && seconds <= 1e11; };
  if (record.stride == 0 || !sane(head.started_unix_s) || !sane(head.interval_s)) io.fail();
}

template <typename Io>
void record_fields(Io& io, ProcessRecord& record) {
  Process& process = record.process;
  io(record.index, record.pid, record.start_ticks, process.id, process.parent, process.id_is_pid);
  io.code(process.role, 7, Role::unknown);
  io(process.name, process.role_reason);
  io.added(process.rank, process.rank >= 0);
  if (process.rank < -1 || process.rank > kMaxRank) process.rank = -1;
}

template <typename Io>
void record_fields(Io& io, RecordedColumn& column) {
  constexpr uint8_t kGauge = 255;
  uint8_t kind = column.is_gauge ? kGauge : static_cast<uint8_t>(column.metric);
  io(column.process, kind);
  column.is_gauge = kind == kGauge;
  if (column.is_gauge) return io(column.name);
  if (kind >= kMetricCount) return io.fail();
  column.metric = static_cast<Metric>(kind);
}

template <typename Io>
void record_fields(Io& io, FactRecord& record) {
  io(record.which, record.fact.value, record.fact.source);
  io.added(record.fact.text, !record.fact.text.empty());
  if (!std::isfinite(record.fact.value)) io.fail();
}

template <typename Io>
void record_fields(Io& io, EventRecord& record) {
  auto time_ms = static_cast<uint64_t>(whole_ms(record.time_s));
  io(record.serial, time_ms);
  io.code(record.kind, 6, EventKind::mark);
  io(record.text);
  if (time_ms > static_cast<uint64_t>(kMaxTimeMs)) io.fail();
  record.time_s = static_cast<double>(time_ms) / 1000;
}

template <typename Io>
void record_fields(Io& io, Ending& ending) {
  int64_t code = ending.code;
  // A kind of a later version is an ending all the same, of which nothing more is known.
  io.code(ending.kind, 6, Ending::Kind::unknown);
  io(code, ending.text);
  if (code < INT32_MIN || code > INT32_MAX) io.fail();
  ending.code = static_cast<int>(code);
}

template <typename Io>
void record_fields(Io& io, HeapRecord& record) {
  io(record.pid, record.number);
  io.rest(record.track);
}

template <typename Io>
void record_fields(Io& io, HeldType& held) {
  io(held.type, held.count, held.tensor);
}

template <typename Io>
void record_fields(Io& io, Holder& holder) {
  int64_t line = holder.line;
  io.code(holder.kind, 8, HolderKind::unseen);
  io(holder.path, holder.type, holder.owner, holder.module, holder.function, holder.file, line);
  io(holder.chain, holder.is_new, holder.containers, holder.length_before, holder.length_after);
  io(holder.looked_at, holder.tensors_looked_at, holder.tensors_with_graph);
  record_list(io, holder.holds);
  if (line < 0 || line > INT32_MAX) io.fail();
  holder.line = static_cast<int>(line);
}

template <typename Io>
void record_fields(Io& io, SourceLine& source) {
  int64_t line = source.line, made = source.made_line;
  io(source.file, line, made);
  if (line < 0 || line > INT32_MAX || made < 0 || made > INT32_MAX) io.fail();
  source.line = static_cast<int>(line);
  source.made_line = static_cast<int>(made);
}

// What came later than the other fields of holders, and stands behind all of them.
template <typename Io>
void added_fields(Io& io, std::vector<Holder>& holders) {
  bool more = std::ranges::any_of(holders, [](const Holder& holder) {
    return holder.graph_depth >= 0 || !holder.added_at.empty();
  });
  io.added(more, more);
  if (!more) return;
  for (Holder& holder : holders) {
    io(holder.graph_depth, holder.graph_depth_before);
    record_list(io, holder.added_at);
    if (holder.graph_depth < -1 || holder.graph_depth_before < -1) io.fail();
  }
}

template <typename Io>
void record_fields(Io& io, HolderGrowth& growth) {
  io(growth.pid, growth.from_s, growth.to_s, growth.from_step, growth.to_step, growth.stopped_s);
  const auto sane = [](double seconds) { return seconds >= 0 && seconds <= 1e11; };
  if (!sane(growth.from_s) || !sane(growth.to_s) || !sane(growth.stopped_s)) return io.fail();
  record_list(io, growth.holders);
  added_fields(io, growth.holders);
}

template <typename Record>
std::string encode_record(Record record) {
  FieldWriter io;
  record_fields(io, record);
  return std::move(io.out);
}

template <typename Record>
std::optional<Record> decode_record(std::string_view payload) {
  FieldReader io{WireReader(payload)};
  Record record;
  record_fields(io, record);
  return io.in.ok() ? std::optional(std::move(record)) : std::nullopt;
}

// Appends a whole record.
void put_record(std::string& out, RecordType type, std::string_view payload);

// A record as it stands in the file.
struct RecordFrame {
  uint8_t type = 0;
  std::string_view payload;
  size_t size = 0;      // Of the whole record.
  std::string trouble;  // Empty, or why there is no record here: "cut off", "checksum differs".
};
// Requires: `bytes` is not empty.
RecordFrame next_frame(std::string_view bytes);

}  // namespace plateau
