// SPDX-License-Identifier: Apache-2.0
// Writes segments as the tracer does, from a test, lane by lane and with stamps of its choice.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/segment.h"

namespace plateau {

inline trace::AllocRecord alloc_record(uint64_t address, uint64_t bytes, uint64_t stack,
                                       uint64_t stamp, uint16_t note = 0,
                                       trace::BlockKind kind = trace::BlockKind::heap) {
  trace::AllocRecord record;
  record.head = {trace::RecordType::alloc, static_cast<uint8_t>(kind), note,
                 sizeof record / sizeof(uint64_t)};
  record.address = address;
  record.bytes = bytes;
  record.stack = stack;
  record.stamp = stamp;
  return record;
}

inline trace::FreeRecord free_record(uint64_t address, uint64_t stamp) {
  trace::FreeRecord record;
  record.head = {trace::RecordType::free, 0, 0, sizeof record / sizeof(uint64_t)};
  record.address = address;
  record.stamp = stamp;
  return record;
}

inline trace::UnmapRecord unmap_record(uint64_t address, uint64_t bytes, uint64_t stamp) {
  trace::UnmapRecord record;
  record.head = {trace::RecordType::unmap, 0, 0, sizeof record / sizeof(uint64_t)};
  record.address = address;
  record.bytes = bytes;
  record.stamp = stamp;
  return record;
}

// The words of a record and of what follows it.
template <class Record>
std::vector<uint64_t> words_of(Record record, trace::RecordType type, std::string_view rest) {
  std::string bytes(sizeof record, '\0');
  bytes += rest;
  bytes.resize((bytes.size() + 7) / 8 * 8);
  record.head.type = type;
  record.head.words = static_cast<uint32_t>(bytes.size() / 8);
  std::memcpy(bytes.data(), &record, sizeof record);
  std::vector<uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

inline std::vector<uint64_t> stack_words(uint64_t id, const std::vector<uint64_t>& native,
                                         const std::vector<trace::PythonFrameWords>& python = {}) {
  trace::StackRecord record;
  record.id = id;
  record.native = static_cast<uint16_t>(native.size());
  record.python = static_cast<uint16_t>(python.size());
  std::string rest(reinterpret_cast<const char*>(native.data()), native.size() * 8);
  rest.append(reinterpret_cast<const char*>(python.data()),
              python.size() * sizeof(trace::PythonFrameWords));
  return words_of(record, trace::RecordType::stack, rest);
}

inline std::vector<uint64_t> code_words(uint64_t id, std::string_view file,
                                        std::string_view function, std::string_view table) {
  trace::CodeRecord record;
  record.id = id;
  record.first_line = 7;
  record.minor = 11;
  record.file_bytes = static_cast<uint16_t>(file.size());
  record.function_bytes = static_cast<uint16_t>(function.size());
  record.line_table_bytes = static_cast<uint16_t>(table.size());
  return words_of(record, trace::RecordType::code,
                  std::string(file) + std::string(function) + std::string(table));
}

inline std::vector<uint64_t> module_words(uint64_t begin, uint64_t end, std::string_view build_id,
                                          std::string_view path) {
  trace::ModuleRecord record;
  record.begin = begin;
  record.end = end;
  record.build_id_bytes = static_cast<uint16_t>(build_id.size());
  record.path_bytes = static_cast<uint16_t>(path.size());
  return words_of(record, trace::RecordType::module, std::string(build_id) + std::string(path));
}

// The file appears whole, under the name that a tracer would give it.
class FakeTracer {
 public:
  FakeTracer(const std::string& directory, pid_t pid, int image = 1,
             uint64_t lane_bytes = trace::kLaneBytes)
      : path_(directory + "/" + std::to_string(pid) + "-" + std::to_string(image) + ".segment"),
        lane_bytes_(lane_bytes) {
    const std::string unready = path_ + ".tmp";
    const int fd = open(unready.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    [[maybe_unused]] const int cut =
        ftruncate(fd, static_cast<off_t>(trace::segment_bytes(lane_bytes)));
    memory_ =
        mmap(nullptr, trace::segment_bytes(lane_bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    auto* made = new (memory_) trace::SegmentHeader();
    made->pid = static_cast<uint32_t>(pid);
    made->exact = 1;
    made->lane_bytes = lane_bytes;
    made->state.store(trace::SegmentState::running);
    rename(unready.c_str(), path_.c_str());
  }
  FakeTracer(const FakeTracer&) = delete;
  FakeTracer& operator=(const FakeTracer&) = delete;
  ~FakeTracer() { munmap(memory_, trace::segment_bytes(lane_bytes_)); }

  [[nodiscard]] const std::string& path() const { return path_; }
  trace::SegmentHeader& header() { return *static_cast<trace::SegmentHeader*>(memory_); }

  // False if the lane is full.
  bool put(size_t lane, const std::vector<uint64_t>& words) {
    trace::Lane& to = header().lanes[lane];
    uint64_t at = to.written.load();
    const uint64_t bytes = words.size() * 8;
    const uint64_t left = lane_bytes_ - at % lane_bytes_;
    const uint64_t padding = bytes <= left ? 0 : left;
    if (at + padding + bytes - to.read.load() > lane_bytes_) return false;
    char* ring = static_cast<char*>(memory_) + trace::kHeaderBytes + lane * lane_bytes_;
    if (padding > 0) {
      const trace::RecordHead head{trace::RecordType::padding, 0, 0,
                                   static_cast<uint32_t>(padding / 8)};
      std::memcpy(ring + at % lane_bytes_, &head, sizeof head);
      at += padding;
    }
    std::memcpy(ring + at % lane_bytes_, words.data(), bytes);
    to.written.store(at + bytes);
    return true;
  }
  template <class Record>
  bool put(size_t lane, const Record& record) {
    std::vector<uint64_t> words(sizeof record / 8);
    std::memcpy(words.data(), &record, sizeof record);
    return put(lane, words);
  }

 private:
  std::string path_;
  uint64_t lane_bytes_ = 0;
  void* memory_ = nullptr;
};

}  // namespace plateau
