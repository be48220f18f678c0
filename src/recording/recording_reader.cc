// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_reader.h"

#include <fmt/format.h>

#include "base/units.h"
#include "recording/redact_run.h"
#include "recording/wire.h"

namespace plateau {
namespace {

Error not_readable(std::string_view name, std::string_view why) {
  return {Error::Kind::bad_input, fmt::format("{}{}{}", name, name.empty() ? "" : " ", why)};
}

// "" if the payload was put into the log.
std::string replay(RecordingLog& log, const RecordFrame& frame) {
  const auto unreadable = [&frame] {
    return fmt::format("the {} record cannot be read", record_type_name(frame.type));
  };
  const auto put = [&](const auto& decoded, auto to) {
    return decoded ? (log.*to)(*decoded) : unreadable();
  };
  switch (static_cast<RecordType>(frame.type)) {
    case RecordType::head:
      return "a second head";
    case RecordType::process:
      return put(decode_record<ProcessRecord>(frame.payload), &RecordingLog::put_process);
    case RecordType::column:
      return put(decode_record<RecordedColumn>(frame.payload), &RecordingLog::put_column);
    case RecordType::fact:
      return put(decode_record<FactRecord>(frame.payload), &RecordingLog::put_fact);
    case RecordType::note:
      return log.put_note(frame.payload);
    case RecordType::event:
      return put(decode_record<EventRecord>(frame.payload), &RecordingLog::put_event);
    case RecordType::events_lost: {
      WireReader in(frame.payload);
      const uint64_t count = in.varint();
      return in.ok() ? log.put_events_lost(count) : unreadable();
    }
    case RecordType::sample:
    case RecordType::span: {
      std::string trouble = log.put_row(static_cast<RecordType>(frame.type), frame.payload);
      // The writer merges at this point, also when it could not write the merged file.
      if (trouble.empty()) log.merge_if_full();
      return trouble;
    }
    case RecordType::ending:
      return put(decode_record<Ending>(frame.payload), &RecordingLog::put_ending);
    case RecordType::heap:
      return put(decode_record<HeapRecord>(frame.payload), &RecordingLog::put_heap);
    case RecordType::holders:
      return put(decode_record<HolderGrowth>(frame.payload), &RecordingLog::put_holders);
  }
  return "";  // A record of a later version: skipped.
}

}  // namespace

bool looks_like_recording(std::string_view bytes) {
  return bytes.starts_with(kRecordingMagic);
}

Result<RecordingLog> load_recording(std::string_view name, std::string_view bytes,
                                    std::vector<ReadRecord>* records) {
  if (!looks_like_recording(bytes)) return not_readable(name, "is not a Plateau recording");
  if (bytes.size() < kRecordingPrefix)
    return not_readable(name, "is a recording that is cut off before its head");
  const auto version = static_cast<uint8_t>(bytes[kRecordingMagic.size()]);
  if (version > kRecordingVersion) {
    return not_readable(name, fmt::format("is a recording of version {}, but this program knows "
                                          "versions up to {}; use a newer plateau",
                                          version, kRecordingVersion));
  }
  size_t at = kRecordingPrefix;
  const RecordFrame first = at < bytes.size() ? next_frame(bytes.substr(at)) : RecordFrame{};
  const bool whole = at < bytes.size() && first.trouble.empty() && version > 0 &&
                     first.type == static_cast<uint8_t>(RecordType::head);
  const auto head = whole ? decode_record<HeadRecord>(first.payload) : std::nullopt;
  if (!head) return not_readable(name, "is a recording whose head is cut off or damaged");

  RecordingLog log(*head);
  if (records != nullptr) records->push_back({at, first, ""});
  at += first.size;
  while (at < bytes.size()) {
    const RecordFrame frame = next_frame(bytes.substr(at));
    std::string trouble = frame.trouble.empty() ? replay(log, frame) : frame.trouble;
    if (records != nullptr) records->push_back({at, frame, trouble});
    if (!trouble.empty()) {
      // What follows is written against what cannot be read, so there is nothing to go on with.
      log.put_damage(fmt::format("the last {} bytes of the recording were left out: at byte {}, {}",
                                 format_count(static_cast<int64_t>(bytes.size() - at)), at,
                                 trouble));
      break;
    }
    at += frame.size;
  }
  return log;
}

Result<Run> read_recording(std::string_view name, std::string_view bytes) {
  const Result<RecordingLog> log = load_recording(name, bytes);
  if (!log.ok()) return log.error();
  Run run = log.value().to_run();
  redact(run);
  run.source = name;
  run.format = "recording";
  return run;
}

}  // namespace plateau
