// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "recording/wire.h"

namespace plateau {

RecordingLog::RecordingLog(const HeadRecord& head) : head_(head) {
  head_.max_rows = std::clamp<uint64_t>(head.max_rows, kLeastRows, kMostRows);
  head_.stride = std::clamp<uint64_t>(head.stride, 1, kMaxSpanCount);
}

std::string RecordingLog::put_process(const ProcessRecord& record) {
  if (record.index > processes_.size()) return "a process is skipped";
  if (record.index == processes_.size()) {
    if (processes_.size() >= kMaxProcesses) return "there are too many processes";
    if (!ids_.insert(record.process.id).second) return "two processes have one id";
    processes_.push_back(record);
    return "";
  }
  ProcessRecord& known = processes_[record.index];
  if (record.process.id != known.process.id) return "a process changes its id";
  known = record;
  return "";
}

std::string RecordingLog::put_column(const RecordedColumn& column) {
  if (column.process >= processes_.size()) return "a column has no process";
  if (columns_.size() >= kMaxColumns) return "there are too many columns";
  columns_.push_back(column);
  return "";
}

std::string RecordingLog::put_fact(const FactRecord& record) {
  // A fact of a later version is none that we could use.
  if (record.which < kFacts.size()) context_.*kFacts[record.which].field = record.fact;
  return "";
}

std::string RecordingLog::put_note(std::string_view text) {
  if (notes_.size() >= kMaxNotes) return "there are too many notes";
  notes_.emplace_back(text);
  return "";
}

std::string RecordingLog::put_event(const EventRecord& record) {
  if (events_.size() >= RecordingWriter::kMaxEvents) return "there are too many events";
  if (!events_.empty() && record.serial < events_.back().serial) return "events go back";
  events_.push_back(record);
  return "";
}

std::string RecordingLog::put_events_lost(uint64_t count) {
  if (count > kMaxSpanCount || events_lost_ > kMaxSpanCount) return "the count makes no sense";
  events_lost_ += count;
  return "";
}

std::string RecordingLog::put_row(RecordType type, std::string_view payload) {
  SampleSpan span;
  if (!decode_row(payload, type == RecordType::span, last_, samples_, columns_, span)) {
    return "the row cannot be read";
  }
  rows_.push_back({std::string(payload), span.count});
  samples_ += span.count;
  last_ = std::move(span.two ? span.late : span.early);
  return "";
}

std::string RecordingLog::put_ending(const Ending& ending) {
  ending_ = ending;
  ended_ = true;
  return "";
}

std::string RecordingLog::put_heap(const HeapRecord& record) {
  if (record.track.size() > kMaxHeapBytes) return "the heap track is too large";
  std::erase_if(heaps_, [&record](const StoredHeap& known) { return known.pid == record.pid; });
  // The track that nobody has renewed for longest is of a process that has ended.
  if (heaps_.size() >= kMaxHeaps) heaps_.erase(heaps_.begin());
  heaps_.push_back({record.pid, record.number, std::string(record.track)});
  return "";
}

std::string RecordingLog::put_holders(const HolderGrowth& growth) {
  holders_ = growth;
  return "";
}

bool RecordingLog::decode(const Row& row, const Sample& before, uint64_t serial,
                          SampleSpan& span) const {
  return decode_row(row.payload, row.count > 1, before, serial, columns_, span);
}

void RecordingLog::each_row(const std::function<void(const SampleSpan&)>& visit) const {
  Sample before;
  SampleSpan span;
  uint64_t serial = 0;
  for (const Row& row : rows_) {
    // Every payload has been decoded once when it was put here.
    if (!decode(row, before, serial, span)) return;
    serial += row.count;
    visit(span);
    before = span.last();
  }
}

std::string RecordingLog::bytes() const {
  std::string out(kRecordingMagic);
  out.push_back(static_cast<char>(kRecordingVersion));
  put_record(out, RecordType::head, encode_record(head_));
  for (const ProcessRecord& process : processes_) {
    put_record(out, RecordType::process, encode_record(process));
  }
  for (const RecordedColumn& column : columns_)
    put_record(out, RecordType::column, encode_record(column));
  for (size_t i = 0; i < kFacts.size(); ++i) {
    const std::optional<Fact>& fact = context_.*kFacts[i].field;
    if (fact) put_record(out, RecordType::fact, encode_record(FactRecord{i, *fact}));
  }
  for (const std::string& note : notes_) put_record(out, RecordType::note, note);
  for (const EventRecord& event : events_) {
    put_record(out, RecordType::event, encode_record(event));
  }
  if (events_lost_ > 0) {
    std::string payload;
    put_varint(payload, events_lost_);
    put_record(out, RecordType::events_lost, payload);
  }
  for (const Row& row : rows_) {
    put_record(out, row.count == 1 ? RecordType::sample : RecordType::span, row.payload);
  }
  for (const StoredHeap& heap : heaps_) {
    put_record(out, RecordType::heap, encode_record(HeapRecord{heap.pid, heap.number, heap.track}));
  }
  if (holders_) put_record(out, RecordType::holders, encode_record(*holders_));
  if (ended_) put_record(out, RecordType::ending, encode_record(ending_));
  return out;
}

}  // namespace plateau
