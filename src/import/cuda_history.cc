// SPDX-License-Identifier: Apache-2.0
#include "import/cuda_history.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "import/cuda_replay.h"

namespace plateau {
namespace {

constexpr double kMicroseconds = 1e6;  // Of a second.
constexpr size_t kFewestRows = 16;
constexpr size_t kNone = LowMoments::kNone;
constexpr double kAlike = 0.05;  // Of the whole range of the device's memory.

class Player {
 public:
  Player(const CudaDevice& device, const CudaStacks& stacks, const CudaClock& clock, size_t windows)
      : device_(device), stacks_(stacks), clock_(clock) {
    history_.windows.resize(windows);
    const size_t rows = std::min(windows, HeapTrack::kMaxHeapRows);
    low_.event.assign(rows, kNone);
    low_.bytes.assign(rows, 0);
    low_.end.assign(rows, 0);
  }

  CudaHistory play() {
    play_windows();
    widen_row_windows();
    play_rows();
    keep_largest_sites();
    add_names();
    return std::move(history_);
  }

 private:
  void play_windows() {
    ReplayedBlocks live(device_, stacks_.stacks.size(), clock_.begin);
    history_.before_bytes = live.bytes();
    history_.unknown_bytes = live.holdings()[CudaStacks::kBefore].bytes;
    size_t current = 0;
    size_t row = 0;
    const auto open = [&](size_t window) {
      history_.windows[window] = {live.bytes(), live.bytes(), live.reserved(), 0};
    };
    open(0);
    for (size_t i = 0; i < device_.events.size(); ++i) {
      const double at = clock_.moment(device_.events[i], i);
      const size_t window = std::max(current, clock_.window(at, history_.windows.size()));
      while (current < window) open(++current);
      live.apply(device_.events[i], at);
      CudaWindow& now = history_.windows[current];
      now.low_bytes = std::min(now.low_bytes, live.bytes());
      now.high_bytes = std::max(now.high_bytes, live.bytes());
      now.reserved_bytes = live.reserved();
      if (device_.events[i].kind == CudaEvent::Kind::oom) ++now.ooms;
      row = std::max(row, clock_.window(at, low_.event.size()));
      low_.end[row] = i + 1;
      if (low_.event[row] == kNone || live.bytes() < low_.bytes[row]) {
        low_.event[row] = i;
        low_.bytes[row] = live.bytes();
      }
    }
    while (current + 1 < history_.windows.size()) open(++current);
  }

  // Makes the windows of rows twice as long until neighbours have their lowest moments at about the
  // same level: then each holds a whole training step, however many events that has.
  void widen_row_windows() {
    double lowest = history_.windows.front().low_bytes;
    double highest = history_.windows.front().high_bytes;
    for (const CudaWindow& window : history_.windows) {
      lowest = std::min(lowest, window.low_bytes);
      highest = std::max(highest, window.high_bytes);
    }
    while (low_.event.size() >= 2 * kFewestRows &&
           low_.unevenness() > kAlike * (highest - lowest)) {
      low_.halve();
    }
  }

  void play_rows() {
    ReplayedBlocks live(device_, stacks_.stacks.size(), clock_.begin);
    const double length = (clock_.end - clock_.begin) / static_cast<double>(low_.event.size());
    size_t next = 0;
    size_t before = 0;  // Events of the windows before.
    for (size_t row = 0; row < low_.event.size(); ++row) {
      // A window without events has the level of the end of the one before.
      const bool quiet = low_.event[row] == kNone;
      const size_t until = quiet ? before : low_.event[row] + 1;
      if (!quiet) before = low_.end[row];
      for (; next < until; ++next) {
        const double at = clock_.moment(device_.events[next], next);
        live.apply(device_.events[next], at);
      }
      const double middle = clock_.begin + (static_cast<double>(row) + 0.5) * length;
      add_row(quiet || next == 0 ? middle : clock_.moment(device_.events[next - 1], next - 1),
              live);
    }
    for (ReplayedBlocks::Holding& holding : live.holdings()) sites_.push_back(holding.site);
    note_ages(live);
  }

  void add_row(double at, ReplayedBlocks& live) {
    HeapRow row;
    // Rows go forward, also where the clock of a machine was set back.
    at = std::max(at, last_row_);
    last_row_ = at;
    if (clock_.timed) row.time_s = clock_.time_s(at) - clock_.time_s(clock_.begin);
    row.step = static_cast<int64_t>(at);
    std::vector<ReplayedBlocks::Holding>& holdings = live.holdings();
    for (size_t stack = 0; stack < holdings.size(); ++stack) {
      ReplayedBlocks::Holding& holding = holdings[stack];
      if (holding.blocks <= 0) continue;
      holding.site.peak_bytes = std::max(holding.site.peak_bytes, holding.bytes);
      row.cells.push_back({static_cast<uint32_t>(stack), holding.bytes, holding.blocks});
    }
    history_.track.rows.push_back(std::move(row));
  }

  void note_ages(const ReplayedBlocks& live) {
    for (const auto& [address, block] : live.blocks()) {
      const double age = clock_.timed ? clock_.time_s(last_row_) - clock_.time_s(block.since)
                                      : last_row_ - block.since;
      const auto whole = static_cast<uint64_t>(std::clamp(age, 0.0, 1e15));
      const size_t bucket = std::min<size_t>(std::bit_width(whole), kAgeBuckets - 1);
      sites_[block.stack].live_age[bucket] += 1;
    }
  }

  // A track has room for so many sites; the others are a sum without a stack.
  void keep_largest_sites() {
    std::vector<uint32_t> order;
    for (uint32_t stack = 0; stack < sites_.size(); ++stack) {
      if (sites_[stack].peak_bytes > 0) order.push_back(stack);
    }
    std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      return sites_[a].peak_bytes > sites_[b].peak_bytes;
    });
    HeapTrack& track = history_.track;
    std::vector<size_t> place(sites_.size(), kNone);
    for (size_t i = 0; i < order.size(); ++i) {
      if (i >= HeapTrack::kMaxSites) {
        ++track.folded_sites;
        track.folded_max_bytes = std::max(track.folded_max_bytes, sites_[order[i]].peak_bytes);
        continue;
      }
      place[order[i]] = i;
      track.sites.push_back(sites_[order[i]]);
      track.sites.back().stack = order[i];
      track.sites.back().kind = HeapKind::device;
    }
    for (HeapRow& row : track.rows) {
      std::vector<HeapCell> kept;
      for (HeapCell cell : row.cells) {
        if (place[cell.site] == kNone) {
          row.others_bytes += cell.live_bytes;
          continue;
        }
        cell.site = static_cast<uint32_t>(place[cell.site]);
        kept.push_back(cell);
      }
      std::sort(kept.begin(), kept.end(),
                [](const HeapCell& a, const HeapCell& b) { return a.site < b.site; });
      row.cells = std::move(kept);
    }
  }

  // The stacks of the sites that are kept, with the lines they stand on.
  void add_names() {
    HeapTrack& track = history_.track;
    std::vector<size_t> code_of(stacks_.frames.size(), kNone);
    for (HeapSite& site : track.sites) {
      HeapStack stack;
      for (const uint32_t frame : stacks_.stacks[site.stack]) {
        if (code_of[frame] == kNone) {
          code_of[frame] = track.codes.size();
          const CudaFrame& place = stacks_.frames[frame];
          track.codes.push_back({place.function, place.file, place.line, 0, ""});
        }
        stack.python.push_back({.code = static_cast<uint32_t>(code_of[frame])});
      }
      site.stack = static_cast<uint32_t>(track.stacks.size());
      track.stacks.push_back(std::move(stack));
    }
    track.pid = device_pid(device_.index);
    track.exact = true;
    track.allocator = "CUDA caching allocator of torch";
  }

  const CudaDevice& device_;
  const CudaStacks& stacks_;
  const CudaClock& clock_;
  CudaHistory history_;
  LowMoments low_;
  std::vector<HeapSite> sites_;  // By stack.
  double last_row_ = 0;
};

}  // namespace

size_t CudaClock::window(double at, size_t count) const {
  if (!(end > begin)) return 0;
  const double place = (at - begin) / (end - begin) * static_cast<double>(count);
  return static_cast<size_t>(std::clamp(place, 0.0, static_cast<double>(count - 1)));
}

double CudaClock::moment(const CudaEvent& event, size_t index) const {
  if (!timed) return static_cast<double>(index);
  const auto place = std::lower_bound(times_us.begin(), times_us.end(), event.time_us);
  return static_cast<double>(place - times_us.begin());
}

double CudaClock::time_s(double moment) const {
  const double last = static_cast<double>(times_us.size()) - 1;
  return times_us[static_cast<size_t>(std::clamp(moment, 0.0, last))] / kMicroseconds;
}

CudaClock clock_of(const CudaSnapshot& snapshot) {
  CudaClock clock{.timed = snapshot.has_times, .begin = 0, .end = 0, .times_us = {}};
  size_t most = 0;
  for (const CudaDevice& device : snapshot.devices) {
    most = std::max(most, device.events.size());
    if (!clock.timed) continue;
    for (const CudaEvent& event : device.events) clock.times_us.push_back(event.time_us);
  }
  std::sort(clock.times_us.begin(), clock.times_us.end());
  clock.timed = clock.timed && !clock.times_us.empty();
  const size_t events = clock.timed ? clock.times_us.size() : most;
  clock.end = events > 0 ? static_cast<double>(events - 1) : 0;
  return clock;
}

CudaHistory play_history(const CudaDevice& device, const CudaStacks& stacks, const CudaClock& clock,
                         size_t windows) {
  return Player(device, stacks, clock, windows).play();
}

}  // namespace plateau
