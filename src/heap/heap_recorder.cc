// SPDX-License-Identifier: Apache-2.0
#include "heap/heap_recorder.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <optional>

#include "base/clock.h"
#include "heap/pid_here.h"

namespace plateau {
namespace {

constexpr double kCalibrationSeconds = 0.01;  // Of two clocks, at least.
constexpr double kSilenceSeconds = 1;         // After a process said that it ends.
constexpr double kAliveCheckSeconds = 0.2;
constexpr double kYoungSeconds = 0.5;
constexpr uint64_t kMaxSilent = 1'000'000;  // More is nonsense.

// An amount from the segment; below 0 where the allocator does not say.
double amount(const std::atomic<uint64_t>& value) {
  const uint64_t bytes = value.load(std::memory_order_relaxed);
  return bytes > kMaxBlockBytes ? -1 : static_cast<double>(bytes);
}

std::string_view allocator_name(uint32_t kind) {
  constexpr std::array<std::string_view, 5> kNames = {"", "glibc", "jemalloc", "tcmalloc",
                                                      "mimalloc"};  // By trace::AllocatorKind.
  return kind < kNames.size() ? kNames[kind] : "";
}

// Adds the CPU that a scope takes.
class CpuMeter {
 public:
  explicit CpuMeter(double& sum) : sum_(sum), began_s_(clock_s(CLOCK_PROCESS_CPUTIME_ID)) {}
  CpuMeter(const CpuMeter&) = delete;
  CpuMeter& operator=(const CpuMeter&) = delete;
  ~CpuMeter() { sum_ += clock_s(CLOCK_PROCESS_CPUTIME_ID) - began_s_; }

 private:
  double& sum_;
  double began_s_;
};

}  // namespace

struct HeapRecorder::Living {
  Living(MappedSegment mapped, const StepMarks* marks, double ticks_per_s)
      : segment(std::move(mapped)), profile(marks, ticks_per_s) {}

  MappedSegment segment;
  GrowthProfile profile;
  MappedSegment::Cut cut;
  double cpu_s = 0;
  uint32_t asked = 0;
  uint64_t last_news = 0;   // Stamp of the last round that brought something.
  uint64_t started = 0;     // Stamp of its image.
  uint64_t adopted = 0;     // Stamp.
  uint64_t last_check = 0;  // Stamp of the last look whether it lives.
  uint32_t silent_rounds = 0;
  uint64_t silent = 0;  // Children of it, told so far.
  bool known = true;    // Its id is one of this namespace.
  bool gone = false;    // There is no such process any more.
  bool ended = false;   // What is published now is all there will be.
};

struct HeapRecorder::Ended {
  int64_t pid = 0;
  uint64_t started = 0;
  double peak_bytes = 0;
  std::string encoded;
};

HeapRecorder::HeapRecorder(std::string directory, mode_t spare_mode)
    : directory_(std::move(directory)),
      spares_(directory_, spare_mode),
      first_stamp_(trace::trace_stamp()),
      first_s_(monotonic_now_s()),
      recording_began_s_(first_s_) {}

HeapRecorder::~HeapRecorder() = default;

void HeapRecorder::scan() {
  DIR* directory = opendir(directory_.c_str());
  if (directory == nullptr) return;
  std::vector<std::string> names;
  while (const dirent* entry = readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(trace::kSegmentEnding)) names.emplace_back(name);
    if (name.ends_with(trace::kUntracedEnding) &&
        unlinkat(dirfd(directory), entry->d_name, 0) == 0) {
      ++counts_.untraced;
    }
  }
  closedir(directory);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) adopt(directory_ + "/" + name);
}

void HeapRecorder::adopt(const std::string& path) {
  Result<MappedSegment> segment = MappedSegment::open(path);
  unlink(path.c_str());
  if (!segment || living_.size() >= kMaxSegments) {
    ++refused_;
    return;
  }
  adopt(std::move(segment.value()));
}

// The image of an earlier segment of the same process is gone.
void HeapRecorder::adopt(MappedSegment segment) {
  ++counts_.segments_seen;
  if (segment.lane_bytes() < trace::kLaneBytes && !segment.small_on_purpose()) ++counts_.cramped;
  const std::optional<pid_t> known = pid_seen_from_here(segment);
  const pid_t pid = known.value_or(segment.pid());
  segment.is_known_as(pid);
  // Segments may be found in another order than that in which they were begun.
  const uint64_t started = segment.header().started_stamp;
  const bool over = std::any_of(living_.begin(), living_.end(),
                                [&](const auto& other) {
                                  return other->segment.pid() == pid && other->started > started;
                                }) ||
                    std::any_of(ended_.begin(), ended_.end(), [&](const Ended& other) {
                      return other.pid == pid && other.started > started;
                    });
  if (over) return;
  std::erase_if(living_, [&](const auto& other) {
    if (other->segment.pid() != pid) return false;
    part_with(*other);
    return true;
  });
  std::erase_if(ended_, [&](const Ended& other) { return other.pid == pid; });
  living_.push_back(std::make_unique<Living>(std::move(segment), &marks_, ticks_per_s_));
  living_.back()->known = known.has_value();
  living_.back()->started = started;
  living_.back()->last_news = trace::trace_stamp();
  living_.back()->adopted = living_.back()->last_news;
  // Asked at once, so that the first row has an answer.
  living_.back()->asked = 1;
  living_.back()->segment.header().account.asked.store(1, std::memory_order_release);
}

bool HeapRecorder::has_ended(Living& process, uint64_t now) const {
  const auto since = [&](uint64_t stamp) {
    return now > stamp ? static_cast<double>(now - stamp) / ticks_per_s_ : 0;
  };
  // What is young may be short-lived, and its segment wanted by the next.
  const bool young = since(process.adopted) < kYoungSeconds;
  if (!young && since(process.last_check) < kAliveCheckSeconds) return false;
  process.last_check = now;
  process.gone = kill(process.segment.pid(), 0) != 0 && errno == ESRCH;
  if (process.gone) return true;
  const auto state = process.segment.header().state.load(std::memory_order_acquire);
  const bool said_so =
      state == trace::SegmentState::ended || state == trace::SegmentState::detached;
  return said_so && since(process.last_news) > kSilenceSeconds;
}

void HeapRecorder::part_with(Living& process) {
  count_silent(process);
  if (process.segment.is_made_here() && process.known)
    spares_.take_back(std::move(process.segment));
}

HeapRecorder::Load HeapRecorder::look(bool check_all) {
  for (MappedSegment& segment : spares_.claimed()) adopt(std::move(segment));
  Load load;
  const uint64_t now = trace::trace_stamp();
  const double elapsed_s = monotonic_now_s() - first_s_;
  if (elapsed_s > kCalibrationSeconds) {
    ticks_per_s_ = static_cast<double>(now - first_stamp_) / elapsed_s;
  }
  for (const auto& process : living_) {
    process->profile.ticks_per_second(ticks_per_s_);
    if (check_all) process->last_check = 0;
    process->ended = has_ended(*process, now);
    process->cut = process->segment.cut();
    if (process->cut.bytes > 0) process->last_news = now;
    load.bytes += process->cut.bytes;
    // As if all lanes were of the usual size.
    const uint64_t times_smaller = trace::kLaneBytes / process->segment.lane_bytes();
    load.fullest_bytes = std::max(load.fullest_bytes, process->cut.fullest_bytes * times_smaller);
  }
  return load;
}

void HeapRecorder::read() {
  for (const auto& process : living_) {
    // The two rounds after the last news forget what had to be remembered.
    process->silent_rounds = process->cut.bytes > 0 ? 0 : process->silent_rounds + 1;
    if (process->silent_rounds > 2) continue;
    const CpuMeter meter(process->cpu_s);
    process->profile.begin_round(process->cut.ordered);
    process->segment.drain(process->cut, process->profile);
    process->profile.end_round();
  }
  for (const auto& process : living_) {
    count_silent(*process);
    if (!process->ended) continue;
    finish(*process);
    if (process->gone) part_with(*process);
  }
  std::erase_if(living_, [](const auto& process) { return process->ended; });
}

double HeapRecorder::time_now_s() const {
  return monotonic_now_s() - recording_began_s_;
}

HeapRow HeapRecorder::moment_of(Living& process, double time_s, int64_t step) const {
  HeapRow moment;
  moment.time_s = time_s;
  moment.step = step;
  trace::AllocatorAccount& account = process.segment.header().account;
  const uint32_t answered = account.answered.load(std::memory_order_acquire);
  if (answered != 0) {
    moment.allocator_in_use = amount(account.in_use);
    moment.allocator_free = amount(account.free);
    moment.allocator_system = amount(account.system);
  }
  if (answered == process.asked) {
    account.asked.store(++process.asked, std::memory_order_release);
  }
  return moment;
}

// Counted where it is read: a process that ends may have told more since.
void HeapRecorder::count_silent(Living& process) {
  const uint64_t told = process.segment.header().silent_children.load(std::memory_order_relaxed);
  if (told > process.silent && told < kMaxSilent) counts_.silent += told - process.silent;
  process.silent = told;
}

void HeapRecorder::row(double time_s, int64_t step) {
  recording_began_s_ = monotonic_now_s() - time_s;
  newest_step_ = std::max(newest_step_, step);
  for (const auto& process : living_) {
    const CpuMeter meter(process->cpu_s);
    process->profile.row(moment_of(*process, time_s, step));
  }
}

HeapTrack HeapRecorder::track_of(Living& process) {
  if (process.profile.rows() == 0) {
    process.profile.row(moment_of(process, time_now_s(), newest_step_));
  }
  HeapTrack track = process.profile.track(trace::trace_stamp());
  const trace::SegmentHeader& header = process.segment.header();
  const uint32_t interval = header.interval_log2.load(std::memory_order_relaxed);
  track.pid = process.segment.pid();
  track.exact = process.segment.exact();
  track.interval_bytes =
      track.exact ? 0 : std::ldexp(1.0, std::min<int>(static_cast<int>(interval & 63), 48));
  track.allocator = allocator_name(header.account.allocator.load(std::memory_order_relaxed));
  track.python_minor = static_cast<int>(header.python_minor.load(std::memory_order_relaxed) % 100);
  track.python_hooked = header.python_hooked.load(std::memory_order_relaxed) == 1;
  track.dropped_allocs = header.dropped_allocs.load(std::memory_order_relaxed) +
                         process.profile.refused() +
                         process.segment.lost_bytes() / sizeof(trace::AllocRecord);
  track.dropped_frees = header.dropped_frees.load(std::memory_order_relaxed);
  track.cpu_s = process.cpu_s;
  return track;
}

// A process has torn down much of its heap when it ends, which says nothing about growth: its last
// row is the last one taken while it ran, unless it ran too shortly to have two.
void HeapRecorder::finish(Living& process) {
  const GrowthProfile& profile = process.profile;
  if (profile.events() == 0) return;
  if (!makes_room_for(std::max(profile.peak_bytes(), profile.live_bytes()))) return;
  if (profile.rows() < 2) {
    process.profile.row(moment_of(process, time_now_s(), newest_step_));
  }
  Ended ended;
  {
    const CpuMeter meter(process.cpu_s);
    ended.pid = process.segment.pid();
    ended.started = process.started;
    ended.peak_bytes = profile.peak_bytes();
    ended.encoded = encode_heap_track(track_of(process));
  }
  ended_.push_back(std::move(ended));
}

bool HeapRecorder::makes_room_for(double peak_bytes) {
  if (ended_.size() < kMaxTracks) return true;
  ++counts_.forgotten;
  const auto smallest =
      std::min_element(ended_.begin(), ended_.end(),
                       [](const Ended& a, const Ended& b) { return a.peak_bytes < b.peak_bytes; });
  if (smallest->peak_bytes >= peak_bytes) return false;
  ended_.erase(smallest);
  return true;
}

std::vector<int64_t> HeapRecorder::pids() const {
  std::vector<std::pair<double, int64_t>> peaks;
  peaks.reserve(ended_.size() + living_.size());
  for (const Ended& ended : ended_) peaks.emplace_back(ended.peak_bytes, ended.pid);
  for (const auto& process : living_) {
    const GrowthProfile& profile = process->profile;
    if (profile.events() == 0) continue;
    peaks.emplace_back(std::max(profile.peak_bytes(), profile.live_bytes()),
                       process->segment.pid());
  }
  std::sort(peaks.begin(), peaks.end());
  std::vector<int64_t> pids;
  pids.reserve(peaks.size());
  for (const auto& [peak, pid] : peaks) pids.push_back(pid);
  return pids;
}

HeapTrack HeapRecorder::track(int64_t pid) {
  for (const auto& process : living_) {
    if (process->segment.pid() == pid) return track_of(*process);
  }
  return {};
}

std::string HeapRecorder::encoded_track(int64_t pid) {
  for (const Ended& ended : ended_) {
    if (ended.pid == pid) return ended.encoded;
  }
  for (const auto& process : living_) {
    if (process->segment.pid() != pid) continue;
    const CpuMeter meter(process->cpu_s);
    return encode_heap_track(track_of(*process));
  }
  return "";
}

}  // namespace plateau
