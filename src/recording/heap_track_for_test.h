// SPDX-License-Identifier: Apache-2.0
// For tests: tracks that look like real ones, of any size, the same for the same request.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "recording/heap_track.h"

namespace plateau {

struct TrackShape {
  size_t sites = 8;
  size_t rows = 5;
  size_t frames = 6;
  bool exact = true;
  bool wild = false;  // Every cell changes at every row, and no two frames are shared.
  uint64_t seed = 1;
};

class RandomTrack {
 public:
  explicit RandomTrack(const TrackShape& shape) : shape_(shape), random_(shape.seed) {}

  HeapTrack make() {
    track_.pid = 4242;
    track_.exact = shape_.exact;
    track_.interval_bytes = shape_.exact ? 0 : 524288;
    track_.allocator = "glibc";
    track_.python_minor = 11;
    track_.python_hooked = below(2) == 1;
    track_.row_stride = 4;
    track_.folded_sites = below(100);
    track_.folded_max_bytes = static_cast<double>(below(1 << 20));
    track_.dropped_allocs = below(1000);
    track_.dropped_frees = below(1000);
    track_.cpu_s = 1.25;
    // Whole units, in sampled tracks too.
    track_.heap_totals.allocated_bytes = static_cast<double>(below(1 << 20)) * 4096;
    track_.heap_totals.allocated_blocks = static_cast<double>(below(1 << 20));
    track_.heap_totals.freed_bytes = static_cast<double>(below(1 << 19)) * 4096;
    track_.heap_totals.freed_blocks = static_cast<double>(below(1 << 19));
    add_modules();
    add_codes();
    add_stacks();
    add_sites();
    add_rows();
    return std::move(track_);
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }
  // What a sum of samples looks like: no whole number unless every block is counted.
  double estimate(double value) const { return shape_.exact ? std::floor(value) : value; }

  void add_modules() {
    uint64_t at = 0x7f0000000000;
    for (size_t i = 0; i < 40; ++i) {
      const uint64_t size = (below(2000) + 1) * 4096;
      std::string id(20, '\0');
      for (char& c : id) c = static_cast<char>(below(256));
      track_.modules.push_back({.begin = at,
                                .end = at + size,
                                .bias = at - 4096 * below(16),
                                .path = fmt::format("/usr/lib/x86_64-linux-gnu/libpart{}.so.6", i),
                                .build_id = id});
      at += size + below(1 << 24) * 4096;
    }
  }

  void add_codes() {
    const size_t count = 1 + shape_.sites / 2;
    for (size_t i = 0; i < count; ++i) {
      std::string table;
      const size_t size = 40 + below(400);
      for (size_t k = 0; k < size; ++k) table.push_back(static_cast<char>(0x80 + below(100)));
      track_.codes.push_back(
          {.function = fmt::format("Loader.part_{}", i),
           .file = fmt::format("/usr/lib/python3/dist-packages/package/module_{}.py", i / 6),
           .first_line = static_cast<int32_t>(below(3000)),
           .minor = 11,
           .line_table = table});
    }
  }

  uint64_t address() {
    const HeapModule& module = track_.modules[below(track_.modules.size())];
    return module.begin + below(module.end - module.begin);
  }

  // As in programs: a walk down a tree of calls, so that neighbours share their outer frames.
  void add_stacks() {
    HeapStack last;
    for (size_t i = 0; i < shape_.sites; ++i) {
      HeapStack stack;
      const size_t inner = shape_.wild ? shape_.frames : 1 + below(shape_.frames / 3 + 1);
      const size_t shared = std::min(last.native.size(), shape_.frames - inner);
      for (size_t k = 0; k + shared < shape_.frames; ++k) stack.native.push_back(address());
      stack.native.insert(stack.native.end(), last.native.end() - static_cast<long>(shared),
                          last.native.end());
      for (size_t k = 0; k < shape_.frames / 4; ++k) {
        stack.python.push_back({.code = static_cast<uint32_t>(below(track_.codes.size())),
                                .instruction = static_cast<int32_t>(below(500)) * 2 - 2,
                                .entry = below(8) == 0});
      }
      stack.truncated = below(50) == 0;
      track_.stacks.push_back(stack);
      last = std::move(stack);
    }
  }

  void add_sites() {
    for (size_t i = 0; i < shape_.sites; ++i) {
      HeapSite site;
      site.stack = static_cast<uint32_t>(shape_.sites - 1 - i);
      site.kind = static_cast<HeapKind>(below(4));
      site.allocated_blocks = estimate(static_cast<double>(below(1 << 20)) + 0.3);
      site.allocated_bytes = estimate(site.allocated_blocks * 64.7);
      site.freed_blocks = estimate(site.allocated_blocks * 0.7);
      site.freed_bytes = estimate(site.freed_blocks * 64.7);
      site.live_variance = shape_.exact ? 0 : static_cast<double>(below(1 << 30)) * 1024.5;
      site.peak_bytes = estimate(static_cast<double>(below(1 << 30)) + 0.5);
      site.first_step = static_cast<int64_t>(below(100)) - 1;
      for (size_t k = 0; k < 12; ++k)
        site.freed_age[k] = estimate(static_cast<double>(below(9999)));
      for (size_t k = 0; k < 9; ++k) site.live_age[k] = estimate(static_cast<double>(below(9999)));
      track_.sites.push_back(site);
    }
  }

  // One site in eight grows by blocks of one size, one in eight churns blocks of many sizes, the
  // others stand still for most rows.
  void add_rows() {
    std::vector<double> blocks(shape_.sites);
    std::vector<double> bytes(shape_.sites);
    double time_s = 0;
    int64_t step = -1;
    for (size_t r = 0; r < shape_.rows; ++r) {
      HeapRow row;
      time_s += static_cast<double>(below(5000)) / 1000;
      step += static_cast<int64_t>(below(3));
      row.time_s = std::round(time_s * 1000) / 1000;
      row.step = step;
      row.others_bytes = static_cast<double>(below(1 << 24));
      if (below(4) != 0) row.allocator_in_use = static_cast<double>(below(1LL << 34));
      if (below(4) != 0) row.allocator_free = static_cast<double>(below(1LL << 34));
      if (below(4) != 0) row.allocator_system = static_cast<double>(below(1LL << 34));
      for (size_t s = 0; s < shape_.sites; ++s) {
        move_site(s, blocks[s], bytes[s]);
        if (blocks[s] <= 0) continue;
        row.cells.push_back({.site = static_cast<uint32_t>(s),
                             .live_bytes = estimate(bytes[s]),
                             .live_blocks = estimate(blocks[s])});
      }
      track_.rows.push_back(std::move(row));
    }
  }

  void move_site(size_t s, double& blocks, double& bytes) {
    const double one = shape_.exact ? 1 : 524288.0 / (64 * static_cast<double>(1 + s % 32));
    if (shape_.wild || s % 8 == 1) {
      blocks = one * static_cast<double>(below(5000));
      bytes = blocks * static_cast<double>(16 + below(4000));
    } else if (s % 8 == 0) {
      blocks += one * static_cast<double>(below(40));
      bytes = blocks * 64 * static_cast<double>(1 + s % 32);
    } else if (below(30) == 0) {
      blocks = one * static_cast<double>(below(200));
      bytes = blocks * 64 * static_cast<double>(1 + s % 32);
    }
  }

  TrackShape shape_;
  std::mt19937_64 random_;
  HeapTrack track_;
};

inline HeapTrack track_like(const TrackShape& shape) {
  return RandomTrack(shape).make();
}

}  // namespace plateau
