// SPDX-License-Identifier: Apache-2.0
#include "probe/jvm_heap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/clock.h"
#include "base/proc_fields.h"

namespace plateau {
namespace {

// HotSpot makes it 32 kB; one that is larger than this is none.
constexpr size_t kMostBytes = size_t{256} << 10;
constexpr size_t kMostEntries = 8192;
// 256 TB; entries of one name add up to no overflow.
constexpr int64_t kMostValue = int64_t{1} << 48;
constexpr double kReadEverySeconds = 0.25;
// Looked for again after 0.5, 2, 8, 32 and 128 s, then given up.
constexpr double kLongestPauseSeconds = 200;
constexpr double kPauseGrows = 4;

// The prologue of version 2.0, of 32 bytes, and the head of each entry, of 20.
constexpr std::string_view kMagic = "\xca\xfe\xc0\xc0";
constexpr size_t kPrologueBytes = 32;
constexpr size_t kEntryHeadBytes = 20;
constexpr char kLong = 'J';

// Numbers in the byte order of whoever wrote them, which is this machine's or nobody's.
template <typename Number>
Number number_at(std::string_view bytes, size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

struct Named {
  std::string_view name;
  int64_t JvmCounters::* field;
  int64_t divide_by;
};
// Several pauses of collecting the old generation are added up.
constexpr std::array<Named, 5> kCounters = {{
    {"sun.gc.generation.1.space.0.used", &JvmCounters::old_used_kb, 1024},
    {"sun.gc.generation.1.maxCapacity", &JvmCounters::old_most_kb, 1024},
    {"sun.gc.collector.0.invocations", &JvmCounters::young_collections, 1},
    {"sun.gc.collector.1.invocations", &JvmCounters::old_collections, 1},
    {"sun.gc.collector.2.invocations", &JvmCounters::old_collections, 1},
}};

void take_entry(std::string_view entry, JvmCounters& counters, bool& has_heap) {
  const auto name_at = number_at<int32_t>(entry, 4);
  const auto data_at = number_at<int32_t>(entry, 16);
  const auto size = static_cast<int64_t>(entry.size());
  if (entry[12] != kLong || name_at < 0 || name_at >= size) return;
  if (data_at < 0 || data_at + int64_t{8} > size) return;
  std::string_view name = entry.substr(static_cast<size_t>(name_at));
  name = name.substr(0, name.find('\0'));
  for (const Named& known : kCounters) {
    if (known.name != name) continue;
    const auto value = number_at<int64_t>(entry, static_cast<size_t>(data_at));
    if (value < 0 || value > kMostValue) return;
    counters.*known.field += value / known.divide_by;
    has_heap |= known.field == &JvmCounters::old_used_kb;
  }
}

// All of a small file, as it is at this moment; "" if it is too large.
std::string bytes_of(int fd) {
  struct stat file{};
  if (fstat(fd, &file) != 0 || file.st_size < static_cast<off_t>(kPrologueBytes)) return {};
  if (file.st_size > static_cast<off_t>(kMostBytes)) return {};
  std::string bytes(static_cast<size_t>(file.st_size), '\0');
  const ssize_t length = pread(fd, bytes.data(), bytes.size(), 0);
  bytes.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return bytes;
}

}  // namespace

std::optional<JvmCounters> parse_jvm_counters(std::string_view bytes) {
  if (bytes.size() < kPrologueBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  constexpr char kLittle = 1;
  constexpr char kVersion = 2;
  const bool accessible = bytes[7] != 0;
  if (bytes[4] != kLittle || bytes[5] != kVersion || !accessible) return std::nullopt;
  const auto first = number_at<int32_t>(bytes, 24);
  const auto count = number_at<int32_t>(bytes, 28);
  if (first < static_cast<int32_t>(kPrologueBytes) || count < 0) return std::nullopt;
  JvmCounters counters;
  bool has_heap = false;
  size_t at = static_cast<size_t>(first);
  const size_t most = std::min(static_cast<size_t>(count), kMostEntries);
  for (size_t i = 0; i < most && at + kEntryHeadBytes <= bytes.size(); ++i) {
    const auto length = number_at<int32_t>(bytes, at);
    if (length < static_cast<int32_t>(kEntryHeadBytes)) break;
    if (static_cast<size_t>(length) > bytes.size() - at) break;
    take_entry(bytes.substr(at, static_cast<size_t>(length)), counters, has_heap);
    at += static_cast<size_t>(length);
  }
  if (!has_heap) return std::nullopt;
  return counters;
}

std::string jvm_counters_path(std::string_view maps) {
  while (!maps.empty()) {
    const std::string_view line = take_line(maps);
    if (line.find("/hsperfdata_") == std::string_view::npos || line.ends_with(" (deleted)"))
      continue;
    return std::string(line.substr(line.find('/')));
  }
  return {};
}

void JvmHeapFloor::take(const JvmCounters& counters) {
  const bool collected = any_ && counters.old_collections != old_;
  const bool apart = counters.young_collections > young_ || counters.young_collections == 0;
  if (!any_ || (collected && apart)) {
    if (begun_) {
      left_kb_ = lowest_kb_;
      ++known_;
    }
    begun_ = any_;
    lowest_kb_ = counters.old_used_kb;
    young_ = counters.young_collections;
  }
  lowest_kb_ = std::min(lowest_kb_, counters.old_used_kb);
  old_ = counters.old_collections;
  any_ = true;
}

bool JvmWatch::due(double now_s) const {
  return now_s >= next_s_ && (present() || pause_s_ < kLongestPauseSeconds);
}

double JvmWatch::look(const PidDir& dir, double now_s) {
  double mapped_s = 0;
  if (!present()) {
    const double begin_s = monotonic_now_s();
    find(dir);
    mapped_s = monotonic_now_s() - begin_s;
    next_s_ = now_s + pause_s_;
    pause_s_ *= kPauseGrows;
  }
  if (!present()) return mapped_s;
  next_s_ = now_s + kReadEverySeconds;
  if (const auto counters = parse_jvm_counters(bytes_of(file_.get()))) {
    floor_.take(*counters);
    most_kb_ = counters->old_most_kb;
  }
  return mapped_s;
}

// Through the process, whose /tmp may be another one than ours. What it maps is its own file: one
// of somebody else's, or a pipe that would never end, is not read.
void JvmWatch::find(const PidDir& dir) {
  int error = 0;
  const std::string path = jvm_counters_path(dir.read_all("maps", error));
  if (path.empty()) return;
  Fd file = dir.open(("root" + path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const Fd self = dir.open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat of_file{}, of_process{};
  if (!file || fstat(file.get(), &of_file) != 0 || !S_ISREG(of_file.st_mode)) return;
  if (!self || fstat(self.get(), &of_process) != 0) return;
  if (of_file.st_uid == of_process.st_uid) file_ = std::move(file);
}

}  // namespace plateau
