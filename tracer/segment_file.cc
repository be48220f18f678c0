// SPDX-License-Identifier: Apache-2.0
#include "tracer/segment_file.h"

#include <cstring>

#include "tracer/process.h"
#include "tracer/system_calls.h"

namespace plateau::trace {
namespace {

constexpr size_t kMaxPath = 512;

// Text in a buffer of fixed size; what does not fit makes it invalid.
class PathText {
 public:
  void text(const char* words) noexcept {
    for (; *words != '\0'; ++words) {
      put(*words);
    }
  }
  void number(uint64_t value) noexcept {
    char digits[20];
    size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value > 0);
    while (count > 0) {
      put(digits[--count]);
    }
  }
  [[nodiscard]] bool fits() const noexcept { return size_ < kMaxPath; }
  [[nodiscard]] const char* c_str() const noexcept { return bytes_; }

 private:
  void put(char letter) noexcept {
    if (size_ + 1 < kMaxPath) {
      bytes_[size_++] = letter;
      bytes_[size_] = '\0';
    } else {
      size_ = kMaxPath;
    }
  }
  char bytes_[kMaxPath] = {};
  size_t size_ = 0;
};

PathText segment_path(const char* directory, uint64_t stamp, const char* ending) noexcept {
  PathText path;
  path.text(directory);
  path.text("/");
  path.number(static_cast<uint64_t>(sys_getpid()));
  path.text("-");
  path.number(stamp);
  path.text(ending);
  return path;
}

// Maps `bytes` of a fresh file. The blocks are reserved first: a full tmpfs shows here, not as a
// SIGBUS in the program later.
void* map_file(const char* path, uint64_t bytes) noexcept {
  const int fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return nullptr;
  }
  void* memory = MAP_FAILED;
  // More than the program may write would not only fail but raise SIGXFSZ.
  if (sys_file_size_limit() >= bytes && sys_fallocate(fd, bytes)) {
    memory = sys_mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  sys_close(fd);
  if (memory == MAP_FAILED) {
    sys_unlink(path);
    return nullptr;
  }
  return memory;
}

// Whose parent has here the id that it has for itself is in its parent's namespace: from within
// another it would be 0. The look into /proc costs a child as much as a dozen page faults.
uint64_t own_namespace() noexcept {
  const SegmentHeader* parents = process.segment.load(std::memory_order_relaxed);
  if (parents != nullptr && parents->pid_namespace != 0 &&
      static_cast<uint32_t>(sys_getppid()) == parents->pid.load(std::memory_order_relaxed)) {
    return parents->pid_namespace;
  }
  return sys_pid_namespace();
}

// All but what a spare has already.
void fill_owner(SegmentHeader& header, const SegmentRequest& request, uint64_t stamp) noexcept {
  header.exact = request.exact ? 1 : 0;
  header.interval_bytes = request.exact ? 0 : uint64_t{1} << request.interval_log2;
  header.started_stamp = stamp;
  header.mapped_at = reinterpret_cast<uint64_t>(&header);
  header.pid_namespace = may_call(MayCall::anything) ? own_namespace() : 0;
  header.interval_log2.store(request.exact ? 0 : request.interval_log2, std::memory_order_relaxed);
  header.state.store(SegmentState::running, std::memory_order_release);
}

void fill_header(SegmentHeader& header, const SegmentRequest& request, uint64_t lane_bytes,
                 uint64_t stamp) noexcept {
  // The file is all zero; what is zero by default needs no writing.
  header.magic = kSegmentMagic;
  header.version = kSegmentVersion;
  header.header_bytes = kHeaderBytes;
  header.lane_count = kLaneCount;
  header.pid.store(static_cast<uint32_t>(sys_getpid()), std::memory_order_relaxed);
  header.lane_bytes = lane_bytes;
  header.filters = process.filters;
  header.small = request.small ? 1 : 0;
  fill_owner(header, request, stamp);
}

// The process id, by calls of the loader where no others may be made; 0 if it cannot be had.
uint32_t own_pid() noexcept {
  if (may_call(MayCall::anything)) {
    return static_cast<uint32_t>(sys_getpid());
  }
  char text[16] = {};
  const int fd = sys_open("/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) {
    return 0;
  }
  sys_read(fd, text, sizeof text - 1);
  sys_close(fd);
  uint32_t pid = 0;
  for (const char* at = text; *at >= '0' && *at <= '9'; ++at) {
    pid = pid * 10 + static_cast<uint32_t>(*at - '0');
  }
  return pid;
}

// The lanes may be smaller than what is mapped; beyond the file nothing is touched.
bool is_spare(const SegmentHeader& header) noexcept {
  return header.magic == kSegmentMagic && header.version == kSegmentVersion &&
         header.header_bytes == kHeaderBytes && header.lane_count == kLaneCount &&
         header.lane_bytes >= kMinLaneBytes && header.lane_bytes <= kLaneBytes &&
         header.pid.load(std::memory_order_relaxed) == 0;
}

SegmentHeader* claim_file(const char* path, uint32_t pid) noexcept {
  const int fd = sys_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) {
    return nullptr;
  }
  void* memory = sys_mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  sys_close(fd);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  auto* header = static_cast<SegmentHeader*>(memory);
  uint32_t nobody = 0;
  if (is_spare(*header) &&
      header->pid.compare_exchange_strong(nobody, pid, std::memory_order_acq_rel)) {
    return header;
  }
  sys_munmap(memory, kSegmentBytes);
  return nullptr;
}

// Tells the recorder that there is a process it will hear nothing of. Takes a name and no blocks.
bool leave_word(const char* directory, uint64_t stamp) noexcept {
  const PathText word = segment_path(directory, stamp, kUntracedEnding);
  if (word.fits()) {
    const int fd =
        sys_open(word.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
      sys_close(fd);
      return true;
    }
  }
  return false;
}

}  // namespace

SegmentHeader* create_segment(const SegmentRequest& request, bool& told) noexcept {
  const uint64_t stamp = trace_stamp();
  const PathText unready = segment_path(request.directory, stamp, ".segment.tmp");
  const PathText ready = segment_path(request.directory, stamp, ".segment");
  if (!unready.fits() || !ready.fits()) {
    return nullptr;
  }
  void* memory = nullptr;
  uint64_t lane_bytes = request.small ? kMinLaneBytes : kLaneBytes;
  while ((memory = map_file(unready.c_str(), segment_bytes(lane_bytes))) == nullptr) {
    lane_bytes /= kLaneStep;
    if (lane_bytes < kMinLaneBytes) {
      told = leave_word(request.directory, stamp);
      return nullptr;
    }
  }
  auto* header = static_cast<SegmentHeader*>(memory);
  fill_header(*header, request, lane_bytes, stamp);
  if (!sys_rename(unready.c_str(), ready.c_str())) {
    sys_unlink(unready.c_str());
    sys_munmap(memory, segment_bytes(lane_bytes));
    return nullptr;
  }
  return header;
}

SegmentHeader* claim_segment(const SegmentRequest& request) noexcept {
  const uint32_t pid = own_pid();
  const uint64_t stamp = trace_stamp();
  for (uint32_t i = 0; pid != 0 && i < kSpareCount; ++i) {
    PathText path;
    path.text(request.directory);
    path.text("/");
    path.text(kSpareName);
    // A child leaves the first, which is large, to programs while there are others.
    const bool last = i == kSpareCount - 1;
    path.number(!request.small ? i : last ? 0 : 1 + (stamp + i) % (kSpareCount - 1));
    SegmentHeader* header = path.fits() ? claim_file(path.c_str(), pid) : nullptr;
    if (header != nullptr) {
      fill_owner(*header, request, stamp);
      return header;
    }
  }
  return nullptr;
}

}  // namespace plateau::trace
