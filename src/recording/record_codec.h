// SPDX-License-Identifier: Apache-2.0
// Records of a recording and their frame: type, length, payload, checksum.
//
// docs/formats/recording.md explains the file byte by byte. Decoders return nullopt for a payload
// that is not what its type says; bytes after the fields known here are ignored, so that a later
// version may add some. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "recording/recording.h"
#include "recording/row_codec.h"
#include "recording/run.h"

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

std::string encode_head(const HeadRecord& record);
std::string encode_process(const ProcessRecord& record);
std::string encode_column(const RecordedColumn& column);
std::string encode_fact(const FactRecord& record);
std::string encode_event(const EventRecord& record);
std::string encode_ending(const Ending& ending);
std::string encode_heap(const HeapRecord& record);

std::optional<HeadRecord> decode_head(std::string_view payload);
std::optional<ProcessRecord> decode_process(std::string_view payload);
std::optional<RecordedColumn> decode_column(std::string_view payload);
std::optional<FactRecord> decode_fact(std::string_view payload);
std::optional<EventRecord> decode_event(std::string_view payload);
std::optional<Ending> decode_ending(std::string_view payload);
std::optional<HeapRecord> decode_heap(std::string_view payload);

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
