// SPDX-License-Identifier: Apache-2.0
#include "heap/mapped_segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

namespace plateau {
namespace {

// The PID of "PID-ANYTHING.segment"; -1 if the name is another.
pid_t pid_of_name(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  pid_t pid = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  const bool dash = error == std::errc() && end != name.data() + name.size() && *end == '-';
  return dash && pid > 0 && name.ends_with(".segment") ? pid : -1;
}

Error refused(const std::string& path, std::string_view why) {
  return {Error::Kind::bad_input, fmt::format("{}: {}", path, why)};
}

// Of a segment with a file of this size; 0 if there is none.
uint64_t lane_bytes_of(off_t file_bytes) {
  for (uint64_t lane = trace::kLaneBytes; lane >= trace::kMinLaneBytes; lane /= trace::kLaneStep) {
    if (file_bytes == static_cast<off_t>(trace::segment_bytes(lane))) return lane;
  }
  return 0;
}

// "" if it is a segment that this program can read.
std::string_view trouble_with(const trace::SegmentHeader& header, pid_t pid, uint64_t lane_bytes) {
  if (header.magic != trace::kSegmentMagic) return "not a heap segment";
  if (header.version != trace::kSegmentVersion) return "a heap segment of another version";
  if (header.header_bytes != trace::kHeaderBytes || header.lane_count != trace::kLaneCount ||
      header.lane_bytes != lane_bytes) {
    return "a heap segment of another shape";
  }
  if (static_cast<pid_t>(header.pid.load()) != pid) return "a heap segment of another process";
  return "";
}

}  // namespace

void MappedSegment::Unmap::operator()(trace::SegmentHeader* header) const {
  munmap(header, bytes);
}

Result<MappedSegment> MappedSegment::open(const std::string& path) {
  const pid_t pid = pid_of_name(path);
  if (pid < 0) return refused(path, "not the name of a heap segment");
  Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return refused(path, std::strerror(errno));
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return refused(path, "not a regular file");
  }
  const uint64_t lane_bytes = lane_bytes_of(facts.st_size);
  if (lane_bytes == 0) return refused(path, "a heap segment of another size");
  Result<MappedSegment> segment = map(std::move(file), path, lane_bytes);
  if (!segment) return segment;
  if (const auto why = trouble_with(segment.value().header(), pid, lane_bytes); !why.empty()) {
    return refused(path, why);
  }
  segment.value().pid_ = pid;
  segment.value().exact_ = segment.value().header().exact != 0;
  return segment;
}

Result<MappedSegment> MappedSegment::map(Fd file, const std::string& path, uint64_t lane_bytes) {
  const size_t bytes = trace::segment_bytes(lane_bytes);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return refused(path, std::strerror(errno));
  MappedSegment segment;
  segment.header_ = {static_cast<trace::SegmentHeader*>(memory), Unmap{bytes}};
  segment.lane_bytes_ = lane_bytes;
  segment.file_ = std::move(file);
  return segment;
}

MappedSegment::FileName::~FileName() {
  if (!path.empty()) unlink(path.c_str());
}

// All blocks are reserved: where they are not to be had, this fails and not the job.
Result<MappedSegment> MappedSegment::make_spare(const std::string& path, int32_t filters,
                                                mode_t mode, bool small) {
  const std::string unready = path + ".tmp";
  const uint64_t largest = small ? trace::kMinLaneBytes : trace::kLaneBytes;
  for (uint64_t lane = largest; lane >= trace::kMinLaneBytes; lane /= trace::kLaneStep) {
    Fd file(::open(unready.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return refused(path, std::strerror(errno));
    FileName name;
    name.path = unready;
    const auto bytes = static_cast<off_t>(trace::segment_bytes(lane));
    if (fallocate(file.get(), 0, 0, bytes) != 0) continue;
    if (fchmod(file.get(), mode) != 0) return refused(path, std::strerror(errno));
    Result<MappedSegment> segment = map(std::move(file), path, lane);
    if (!segment) return segment;
    segment.value().become_spare(filters);
    segment.value().header().small = small ? 1 : 0;
    if (rename(unready.c_str(), path.c_str()) != 0) return refused(path, std::strerror(errno));
    name.path = path;
    segment.value().name_ = std::move(name);
    return segment;
  }
  return refused(path, "no room");
}

void MappedSegment::become_spare(int32_t filters) {
  const uint32_t small = header_->small;
  auto* fresh = new (header_.get()) trace::SegmentHeader();
  fresh->small = small;
  fresh->lane_bytes = lane_bytes_;
  fresh->filters = filters;
  pid_ = -1;
  read_ = {};
  given_up_ = 0;
  lost_bytes_ = 0;
}

bool MappedSegment::owned() {
  if (!whole() || header_->state.load(std::memory_order_acquire) == trace::SegmentState::starting) {
    return false;
  }
  pid_ = static_cast<pid_t>(header_->pid.load(std::memory_order_relaxed));
  exact_ = header_->exact != 0;
  return pid_ > 0;
}

std::span<const uint64_t> MappedSegment::lane_words(size_t lane) const {
  const char* begin =
      reinterpret_cast<const char*>(header_.get()) + trace::kHeaderBytes + lane * lane_bytes_;
  return {reinterpret_cast<const uint64_t*>(begin), lane_bytes_ / sizeof(uint64_t)};
}

bool MappedSegment::whole() const {
  struct stat facts = {};
  return fstat(file_.get(), &facts) == 0 &&
         facts.st_size >= static_cast<off_t>(trace::segment_bytes(lane_bytes_));
}

bool MappedSegment::has_news() const {
  for (size_t lane = 0; lane < trace::kLaneCount; ++lane) {
    if (header_->lanes[lane].written.load(std::memory_order_acquire) != read_[lane]) return true;
  }
  return false;
}

void MappedSegment::give_up(size_t lane, uint64_t to) {
  lost_bytes_ += to - read_[lane];
  ++given_up_;
  read_[lane] = to;
}

// A record is published after everything that it depends on. So if the other lanes are still empty
// after the one that is not was looked at, nothing older than what it holds can come from them.
MappedSegment::Cut MappedSegment::cut() {
  Cut cut;
  cut.to = read_;
  if (!has_news() || !whole()) return cut;
  size_t busy = 0;
  for (size_t lane = 0; lane < trace::kLaneCount; ++lane) {
    const uint64_t written = header_->lanes[lane].written.load(std::memory_order_acquire);
    const uint64_t waiting = written - read_[lane];
    if (waiting == 0) continue;
    if (waiting > lane_bytes_ || written % sizeof(uint64_t) != 0) {
      ++given_up_;
      lost_bytes_ += std::min(waiting, lane_bytes_);
      read_[lane] = written - written % sizeof(uint64_t);
      header_->lanes[lane].read.store(read_[lane], std::memory_order_release);
      cut.to[lane] = read_[lane];
      cut.ordered = false;
      continue;
    }
    ++busy;
    cut.to[lane] = written;
    cut.bytes += waiting;
    cut.fullest_bytes = std::max(cut.fullest_bytes, waiting);
  }
  if (busy > 1) cut.ordered = false;
  for (size_t lane = 0; busy == 1 && lane < trace::kLaneCount; ++lane) {
    const bool empty = cut.to[lane] == read_[lane];
    const uint64_t written = header_->lanes[lane].written.load(std::memory_order_acquire);
    if (empty && written != read_[lane]) cut.ordered = false;
  }
  return cut;
}

}  // namespace plateau
