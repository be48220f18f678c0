// SPDX-License-Identifier: Apache-2.0
#include "tracer/lanes.h"

#include <cstring>

namespace plateau::trace {
namespace {

constexpr uint64_t kWord = 8;

uint64_t record_bytes(const RecordPieces& record) noexcept {
  uint64_t bytes = 0;
  for (size_t i = 0; i < record.count; ++i) {
    bytes += record.pieces[i].count;
  }
  return (bytes + kWord - 1) / kWord * kWord;
}

// Bytes that are lost at the end of the ring if a record of `bytes` begins at `place`.
uint64_t padding_before(uint64_t place, uint64_t bytes, uint64_t lane_bytes) noexcept {
  const uint64_t left = lane_bytes - (place & (lane_bytes - 1));
  return bytes <= left ? 0 : left;
}

void write_padding(char* to, uint64_t bytes) noexcept {
  const RecordHead head{.type = RecordType::padding, .words = static_cast<uint32_t>(bytes / kWord)};
  memcpy(to, &head, sizeof(head));
}

void write_record(char* to, const RecordPieces& record, uint64_t bytes) noexcept {
  uint64_t at = 0;
  for (size_t i = 0; i < record.count; ++i) {
    memcpy(to + at, record.pieces[i].bytes, record.pieces[i].count);
    at += record.pieces[i].count;
  }
  for (; at < bytes; ++at) {
    to[at] = 0;
  }
  const auto words = static_cast<uint32_t>(bytes / kWord);
  memcpy(to + offsetof(RecordHead, words), &words, sizeof(words));
}

bool write_all(SegmentHeader& segment, uint32_t index, const RecordPieces* records,
               size_t count) noexcept {
  Lane& lane = segment.lanes[index];
  const uint64_t lane_bytes = segment.lane_bytes;
  char* ring = reinterpret_cast<char*>(&segment) + kHeaderBytes + index * lane_bytes;
  const uint64_t begin = lane.written.load(std::memory_order_relaxed);
  uint64_t end = begin;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bytes = record_bytes(records[i]);
    end += padding_before(end, bytes, lane_bytes) + bytes;
  }
  if (end - lane.read.load(std::memory_order_acquire) > lane_bytes) {
    return false;
  }
  uint64_t at = begin;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bytes = record_bytes(records[i]);
    if (const uint64_t padding = padding_before(at, bytes, lane_bytes); padding > 0) {
      write_padding(ring + (at & (lane_bytes - 1)), padding);
      at += padding;
    }
    write_record(ring + (at & (lane_bytes - 1)), records[i], bytes);
    at += bytes;
  }
  lane.written.store(at, std::memory_order_release);
  return true;
}

}  // namespace

bool put_into(SegmentHeader& segment, uint32_t first_lane, const RecordPieces* records,
              size_t count) noexcept {
  for (uint32_t i = 0; i < kLaneCount; ++i) {
    const uint32_t index = (first_lane + i) % kLaneCount;
    Lane& lane = segment.lanes[index];
    uint32_t open = 0;
    if (lane.locked.load(std::memory_order_relaxed) != 0 ||
        !lane.locked.compare_exchange_strong(open, 1, std::memory_order_acquire)) {
      continue;
    }
    const bool done = write_all(segment, index, records, count);
    lane.locked.store(0, std::memory_order_release);
    if (done) {
      return true;
    }
  }
  return false;
}

}  // namespace plateau::trace
