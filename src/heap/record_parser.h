// SPDX-License-Identifier: Apache-2.0
// Reads the records of a lane (tracer/segment.h) from bytes that another process may write to at
// any moment, wrongly or in bad faith.
//
// Every record is copied out before it is looked at, so that what was checked is what is used. A
// record that cannot be (unknown type, length that does not fit, counts beyond the bounds) ends the
// parse: nothing says where the next one would begin.
//
// The sink has alloc(AllocRecord), free(FreeRecord), unmap(UnmapRecord), stack(StackNews&&),
// code(CodeNews&&), module(HeapModule&&), and expect(address), a hint that an alloc or free of the
// address follows soon. It is a template parameter because a busy lane brings
// ten million records a second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "recording/heap_track.h"
#include "tracer/segment.h"

namespace plateau {

inline constexpr uint64_t kMaxBlockBytes = uint64_t{1} << 48;  // No address space has more.
inline constexpr uint16_t kMaxIntervalLog2 = 48;

struct StackNews {
  uint64_t id = 0;
  bool truncated = false;
  std::vector<uint64_t> native;
  std::vector<trace::PythonFrameWords> python;
};

struct CodeNews {
  uint64_t id = 0;
  PythonCode code;
};

// Each takes one whole record; nothing if it contradicts itself.
std::optional<StackNews> parse_stack_record(std::span<const uint64_t> words);
std::optional<CodeNews> parse_code_record(std::span<const uint64_t> words);
std::optional<HeapModule> parse_module_record(std::span<const uint64_t> words);

struct ParseEnd {
  size_t words = 0;      // Consumed: whole records.
  bool damaged = false;  // The record after them cannot be read.
};

namespace record_parser {

// A copy of what stands in shared memory at `words`.
template <class Record>
Record copy_of(const uint64_t* words) {
  Record record;
  std::memcpy(static_cast<void*>(&record), words, sizeof record);
  return record;
}

template <class Record>
constexpr bool has_size_of(const trace::RecordHead& head) {
  return head.words == sizeof(Record) / sizeof(uint64_t);
}

inline bool sound(const trace::AllocRecord& record) {
  return record.bytes <= kMaxBlockBytes && record.head.note <= kMaxIntervalLog2 &&
         record.head.kind <= static_cast<uint8_t>(trace::BlockKind::stack);
}

// Records of varying length: rare, so they may allocate.
template <class Sink>
bool hand_over_long(trace::RecordType type, std::span<const uint64_t> shared, Sink& sink) {
  const std::vector<uint64_t> words(shared.begin(), shared.end());
  switch (type) {
    case trace::RecordType::stack:
      if (auto stack = parse_stack_record(words)) return sink.stack(std::move(*stack)), true;
      return false;
    case trace::RecordType::code:
      if (auto code = parse_code_record(words)) return sink.code(std::move(*code)), true;
      return false;
    case trace::RecordType::module:
      if (auto module = parse_module_record(words)) return sink.module(std::move(*module)), true;
      return false;
    default:
      return false;
  }
}

// One record; false if it is damaged. `head` was checked to lie within the words.
template <class Sink>
bool hand_over(const trace::RecordHead& head, const uint64_t* words, Sink& sink) {
  switch (head.type) {
    case trace::RecordType::alloc: {
      if (!has_size_of<trace::AllocRecord>(head)) return false;
      const auto record = copy_of<trace::AllocRecord>(words);
      if (!sound(record)) return false;
      sink.alloc(record);
      return true;
    }
    case trace::RecordType::free:
      if (!has_size_of<trace::FreeRecord>(head)) return false;
      sink.free(copy_of<trace::FreeRecord>(words));
      return true;
    case trace::RecordType::unmap:
      if (!has_size_of<trace::UnmapRecord>(head)) return false;
      sink.unmap(copy_of<trace::UnmapRecord>(words));
      return true;
    case trace::RecordType::padding:
      return true;
    default:
      return hand_over_long(head.type, {words, head.words}, sink);
  }
}

// Walks some records ahead of the parse and tells the sink which addresses it will be asked about:
// the table of live blocks is larger than any cache. What it sees decides nothing.
template <class Sink>
class LookAhead {
 public:
  LookAhead(std::span<const uint64_t> words, Sink& sink) : words_(words), sink_(sink) {
    for (int i = 0; i < kRecords; ++i) next();
  }
  void next() {
    if (words_.size() - at_ < 2) return;
    const auto head = copy_of<trace::RecordHead>(words_.data() + at_);
    const bool names_address =
        head.type == trace::RecordType::alloc || head.type == trace::RecordType::free;
    if (names_address) sink_.expect(words_[at_ + 1]);
    at_ += std::min<size_t>(head.words, words_.size() - at_);
  }

 private:
  static constexpr int kRecords = 12;
  std::span<const uint64_t> words_;
  Sink& sink_;
  size_t at_ = 0;
};

}  // namespace record_parser

// Hands whole records to `sink` until `words` are used up, at least `enough` words are consumed, or
// one is damaged.
template <class Sink>
ParseEnd parse_records(std::span<const uint64_t> words, size_t enough, Sink& sink) {
  size_t at = 0;
  record_parser::LookAhead<Sink> ahead(words, sink);
  while (at < words.size() && at < enough) {
    ahead.next();
    const auto head = record_parser::copy_of<trace::RecordHead>(words.data() + at);
    if (head.words == 0 || head.words > words.size() - at) return {at, true};
    if (!record_parser::hand_over(head, words.data() + at, sink)) return {at, true};
    at += head.words;
  }
  return {at, false};
}

}  // namespace plateau
